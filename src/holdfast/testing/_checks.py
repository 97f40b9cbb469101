"""check_mechanism(), check_method(), check_synthesizer(), check_attack(), check_engine(), check_column().

One call checks whether an object of your own keeps the contract that all of ours keep, as scikit-learn's
`check_estimator` does, without a test runner. `mechanism_checks` and its like give the same checks one by one and by
name; our own tests run them over every registry.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from holdfast._arguments import Seed, checked
from holdfast.attack._attack import Attack
from holdfast.data._schema.columns import Categorical, Numeric
from holdfast.errors import ParameterError
from holdfast.learn.methods.method import Learner
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.synth.methods.method import SynthesisMethod
from holdfast.testing._attacks import attack_checks
from holdfast.testing._columns import column_checks
from holdfast.testing._contract import Check, run_all
from holdfast.testing._engines import EngineStore, engine_checks
from holdfast.testing._learners import learner_checks
from holdfast.testing._mechanisms import example_checks, kind_checks
from holdfast.testing._synthesisers import synthesiser_checks
from holdfast.testing._transcripts import transcript_checks


@checked
def check_mechanism(mechanism: Mechanism | type[Mechanism]) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless the mechanism keeps its contract.

    It takes some seconds: draws are held against the declared law, and releases of the worst pair against the
    claimed curve.

    Parameters
    ----------
    mechanism : Mechanism or type
        An instance is checked by itself, a class on all of its `examples()`.

    Examples
    --------
    >>> from holdfast.privacy import Gaussian
    >>> check_mechanism(Gaussian(sigma=2.0, l2_sensitivity=1.0, arithmetic="idealised"))
    """
    name = mechanism.__name__ if isinstance(mechanism, type) else mechanism.name
    run_all(name, mechanism_checks(mechanism))


@checked
def check_method(method: Learner | SynthesisMethod) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless the method keeps its contract.

    The method runs many times on made-up tables, under every adjacency that it names; on small neighbouring
    ones it is replayed with the same outputs, which finds a sensitivity that is too small and anything that is
    let through. It takes a minute or two.

    Parameters
    ----------
    method : Learner or SynthesisMethod
        The method.

    Examples
    --------
    >>> from holdfast.learn import LEARNERS
    >>> check_method(LEARNERS[0])  # doctest: +SKIP
    """
    checks = method_checks(method)
    run_all(method.name, checks)


@checked
def check_synthesizer(method: SynthesisMethod) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless the synthesiser keeps its contract.

    As `check_method`; rows and models that depend on counts which were not released fail the replay.
    It takes a minute or two.

    Parameters
    ----------
    method : SynthesisMethod
        The method.

    Examples
    --------
    >>> from holdfast.synth import SYNTHESISERS
    >>> check_synthesizer(SYNTHESISERS[0])  # doctest: +SKIP
    """
    if not isinstance(method, SynthesisMethod):
        raise ParameterError(f"method must be a SynthesisMethod, got {type(method).__name__}")
    run_all(method.name, method_checks(method))


@checked
def check_attack(attack: Attack) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless the attack keeps its contract.

    A membership attack is played against models, or rows, that hold their people and against others: it must find the
    ones, and no difference in the others. An attack on an attribute guesses a secret that a release gives away, and one
    with which the release has nothing to do. An attack of disclosure is made on rows that are copies of the members and
    on rows of other people, and with both groups exchanged. People change their places, and it must not matter.

    Parameters
    ----------
    attack : Attack
        Of any kind.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> check_attack(next(attack for attack in ATTACKS if attack.name == "fredrikson"))
    """
    if not isinstance(attack, Attack):
        raise ParameterError(f"attack must be an Attack, got {type(attack).__name__}")
    run_all(attack.name, attack_checks(attack))


@checked
def check_column(column: Numeric | Categorical) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless a column of a kind keeps its contract.

    Parameters
    ----------
    column : Numeric, Categorical or a column of a kind of your own
        An instance of the kind.

    Examples
    --------
    >>> from holdfast.data import Numeric
    >>> check_column(Numeric("age", 0, 100, integer=True, null="category"))
    """
    if not isinstance(column, Numeric | Categorical):
        raise ParameterError(
            f"column must be of a kind below Numeric or Categorical, got {type(column).__name__}"
        )
    run_all(f"{type(column).kind} column {column.name!r}", column_checks(column))


@checked
def check_engine(store: EngineStore, *, cases: int = 50, seed: Seed = 0) -> None:
    """Raise `AssertionError`, with every statement that does not hold, unless the store keeps the neighbour contract.

    Random tables and neighbours of them are stored, opened and held against the memory engine and each other.

    Parameters
    ----------
    store : EngineStore
        Where the engine finds its rows.
    cases : int
        How many random tables are tried.
    seed : int
        What they are drawn from.

    Examples
    --------
    >>> check_engine(EngineStore(put=lambda rows: {"source": rows}), cases=2)
    """
    run_all("the engine", engine_checks(store, cases=cases, seed=seed))


@checked
def mechanism_checks(mechanism: Mechanism | type[Mechanism]) -> Iterator[Check]:
    """The checks of a mechanism, one by one.

    Parameters
    ----------
    mechanism : Mechanism or type
        An instance is checked by itself, a class on all of its `examples()`.

    Yields
    ------
    Check
        One statement each.

    Examples
    --------
    >>> from holdfast.privacy import Laplace
    >>> next(mechanism_checks(Laplace)).name
    'declares_what_it_rests_on'
    """
    if isinstance(mechanism, type):
        yield from kind_checks(mechanism)
        for example in mechanism.examples():
            yield from example_checks(example)
    else:
        yield from kind_checks(type(mechanism))
        yield from example_checks(mechanism)


@checked
def method_checks(method: Learner | SynthesisMethod) -> Iterator[Check]:
    """The checks of a learner or of a synthesiser, one by one.

    Parameters
    ----------
    method : Learner or SynthesisMethod
        The method.

    Returns
    -------
    iterator of Check
        One statement each.

    Examples
    --------
    >>> from holdfast.learn import LEARNERS
    >>> next(method_checks(LEARNERS[0])).name
    'says_what_it_rests_on'
    """
    if isinstance(method, Learner):
        return chain(learner_checks(method), transcript_checks(method))
    if isinstance(method, SynthesisMethod):
        return chain(synthesiser_checks(method), transcript_checks(method))
    raise ParameterError(f"method must be a Learner or a SynthesisMethod, got {type(method).__name__}")
