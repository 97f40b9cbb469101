"""What a third party may get wrong: each check refuses it, and says what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from holdfast.attack import ATTACKS, Attack, AttributeCase, DisclosureCase, ModelCase, RowsCase
from holdfast.attack._attacks.fredrikson import fredrikson
from holdfast.attack._attacks.linkability import link
from holdfast.attack._attacks.mehnaz import label_only
from holdfast.data import Categorical, Numeric, Schema
from holdfast.data._engines.engine import Engine
from holdfast.data._engines.memory import connect as in_memory
from holdfast.errors import ParameterError
from holdfast.learn._choice import find_learner
from holdfast.learn.methods.method import Fit, Learner
from holdfast.noise._source import Source
from holdfast.privacy import Account, Gaussian
from holdfast.synth._choice import find_synthesis_method
from holdfast.testing import (
    EngineStore,
    check_attack,
    check_column,
    check_engine,
    check_mechanism,
    check_method,
    check_synthesizer,
)

SMALL: Any = {"sigma": 1.0, "l2_sensitivity": 1.0, "arithmetic": "idealised"}


def refused(check: Callable[[], None], *words: str) -> None:
    """The check refuses, and names what is wrong."""
    with pytest.raises(AssertionError) as raised:
        check()
    for word in words:
        assert word in str(raised.value), str(raised.value)


# A mechanism.


@dataclass(frozen=True, kw_only=True)
class TooQuiet(Gaussian):
    """Declares the law of the noise that it draws, and claims the curve of three times as much."""

    @property
    def curve(self) -> Any:
        return Gaussian(
            sigma=3 * self.sigma, l2_sensitivity=self.l2_sensitivity, arithmetic="idealised"
        ).curve


@dataclass(frozen=True, kw_only=True)
class NoNoise(Gaussian):
    """Forgets half of its noise."""

    def sample(self, value: Any, source: Source) -> Any:
        return (super().sample(value, source) + np.asarray(value)) / 2


@pytest.mark.slow
def test_a_mechanism_with_too_little_noise() -> None:
    refused(lambda: check_mechanism(TooQuiet(**SMALL)), "is_not_refuted", "audit", "REFUTED")
    refused(lambda: check_mechanism(NoNoise(**SMALL)), "is_not_refuted", "law", "REFUTED")


# A learner.

OUTPUT = find_learner("output")


def peeking(examples: Any, problem: Any, *, account: Account) -> Fit:
    """Pays for the weights, and tells for nothing how many labels are positive."""
    fit = OUTPUT.run(examples, problem, account=account)
    share = sum(int((labels > 0).sum()) for _, labels in examples.chunks())
    return replace(fit, parameters={**fit.parameters, "positive": share})


def free(examples: Any, problem: Any, *, account: Account) -> Fit:
    """Pays for nothing."""
    total = sum((labels @ rows for rows, labels in examples.chunks()), np.zeros(problem.dimension))
    return Fit(weights=total, theorem="none")


@pytest.mark.slow
def test_a_learner_that_reads_the_data_without_charge() -> None:
    mine = replace(OUTPUT, name="peeking", run=peeking, adjacencies=("replace",))
    refused(lambda: check_method(mine), "check_replay-replace", "parameters.positive differs")
    method = Learner(name="free", run=free, paper="none", pure=True, adjacencies=("replace",))
    refused(
        lambda: check_method(method), "free breaks", "spends_no_more_than_its_limit", "check_replay-replace"
    )


# A synthesiser.

INDEPENDENT = find_synthesis_method("independent")


def unpaid(data: Any, workload: Any, *, account: Account) -> Any:
    """Releases noisy counts, and sizes the table by the exact ones."""
    made = INDEPENDENT.run(data, workload, account=account)
    name = data.names[0]
    return replace(made, parameters={**made.parameters, "largest": int(data(name).max())})


def noiseless(data: Any, workload: Any, *, account: Account) -> Any:
    """Pays, and then draws rows from the exact counts of the first column."""
    made = INDEPENDENT.run(data, workload, account=account)
    exact = np.asarray(data(data.names[0]), dtype=float)
    leaking: Any = _Leaking(made.model, data.names[0], exact)
    return replace(made, model=leaking)


class _Leaking:
    def __init__(self, model: Any, name: str, exact: Any) -> None:
        self._model, self._name, self._exact = model, name, exact

    def project(self, names: tuple[str, ...]) -> Any:
        return self._exact if names == (self._name,) else self._model.project(names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


@pytest.mark.slow
@pytest.mark.parametrize("run", [unpaid, noiseless])
def test_a_synthesiser_whose_rows_depend_on_unreleased_counts(run: Any) -> None:
    mine = replace(INDEPENDENT, name="leaking", run=run, adjacencies=("replace",))
    refused(
        lambda: check_synthesizer(mine), "check_replay-replace", "differs although all outputs are the same"
    )


# An attack.

LOSS = next(one for one in ATTACKS if one.name == "loss")


def by_place(case: ModelCase) -> Any:
    """Members come first, as they do in `membership`."""
    return -np.arange(case.records.count, dtype=float)


def at_random(case: ModelCase) -> Any:
    """Guesses, and not twice alike."""
    return np.random.default_rng().normal(size=case.records.count)


def by_memory() -> Callable[[ModelCase], Any]:
    """Knows the generator that drew the answers of its exam."""

    def score(case: ModelCase) -> Any:
        count = case.records.count
        for seed in range(64):
            rows = np.random.default_rng(seed).normal(size=(3 * count // 2, case.records.features.shape[1]))
            if np.array_equal(rows[:count], case.records.features):
                member = np.zeros(count)
                member[np.random.default_rng([seed, 1]).permutation(count)[: count // 2]] = 1.0
                return member
        return LOSS.guess(case)

    return score


def nearest_first(case: RowsCase) -> Any:
    """By the place among the records."""
    return -np.arange(case.records.count, dtype=float)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (by_place, ("members are known from their place", "peeks at the order")),
        (at_random, ("draw from case.random", "do not score higher")),
        (by_memory(), ("it sees who is a member, or its p-value is not valid",)),
    ],
    ids=["by_place", "at_random", "by_memory"],
)
def test_an_attack_that_peeks_or_whose_p_value_is_not_valid(score: Any, words: Sequence[str]) -> None:
    refused(
        lambda: check_attack(replace(LOSS, name="mine", guess=score, tasks=("classification",))),
        *words,
    )


def test_an_attack_on_rows_that_peeks() -> None:
    attack = Attack(name="mine", kind="rows", guess=nearest_first, paper="none", knows=("rows",))
    refused(lambda: check_attack(attack), "members are known from their place")


# An attack on an attribute.


def surer_of_the_first(case: AttributeCase) -> Any:
    """Members come before fresh people: guesses well about them, and nothing about the rest."""
    made = np.array(fredrikson(case))
    half = case.own + (case.count - case.own) // 2
    made[half:] = 0.0
    return made


def tossed(case: AttributeCase) -> Any:
    """Guesses, and not twice alike."""
    return np.random.default_rng().normal(size=(case.count, case.kinds))


def the_commonest(case: AttributeCase) -> Any:
    """Does not look at the release."""
    return np.tile(case.marginal, (case.count, 1))


def for_two_values(case: AttributeCase) -> Any:
    """Forgets that there may be three."""
    return np.array(fredrikson(case))[:, :2]


def by_the_seed(case: AttributeCase) -> Any:
    """Knows the generator that drew the secrets of its exam."""
    for seed in range(64):
        drawn = np.random.default_rng(seed).integers(0, case.kinds, size=case.count)
        if np.array_equal(drawn[: case.own], case.own_values):
            return np.eye(case.kinds)[drawn]
    return fredrikson(case)


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (surer_of_the_first, ("peeks at the order",)),
        (tossed, ("coins must come from a fixed seed", "is guessed right in")),
        (the_commonest, ("the commonest value is right in",)),
        (for_two_values, ("takes_any_case", "one per person and candidate")),
        (by_the_seed, ("it sees the answers",)),
        (lambda case: np.full((case.count, case.kinds), np.nan), ("scores must be finite",)),
    ],
    ids=["by_place", "tossed", "commonest", "two_values", "by_the_seed", "not_numbers"],
)
def test_an_attribute_attack_that_peeks_or_finds_nothing(score: Any, words: Sequence[str]) -> None:
    mine = Attack(
        name="mine",
        kind="attribute",
        guess=score,
        paper="none",
        knows=("answers",),
        tasks=("classification",),
    )
    refused(lambda: check_attack(mine), *words)


def test_an_attribute_attack_that_does_not_say_what_it_reads() -> None:
    mine = Attack(
        name="mine",
        kind="attribute",
        guess=label_only,
        paper="none",
        knows=(),
        tasks=("classification",),
    )
    refused(lambda: check_attack(mine), "names_what_it_lacks", "say in `knows` what it reads")


# Disclosure by rows.


def flattering(case: DisclosureCase) -> Any:
    """Adds to what is called members."""
    members, control, blind = link(case)["linkability"]
    return {"links": ((min(members[0] + 60, members[1]), members[1]), control, blind)}


def better_first(case: DisclosureCase) -> Any:
    """Calls those members who are linked more often."""
    members, control, blind = link(case)["linkability"]
    return {"links": (max(members, control), min(members, control), blind)}


def uneven(case: DisclosureCase) -> Any:
    """More attacks on members."""
    members, control, blind = link(case)["linkability"]
    return {"links": (members, (control[0] // 2, control[1] // 2), blind)}


def blind_one(case: DisclosureCase) -> Any:
    """Does not look at the rows."""
    return {"links": ((5, case.attacks), (5, case.attacks), (5, case.attacks))}


CALLS = itertools.count()


def unrepeatable(case: DisclosureCase) -> Any:
    """Counts its own calls."""
    found = dict(link(case))
    name, ((hits, attacks), *rest) = next(iter(found.items()))
    return found | {name: ((hits - 1 if next(CALLS) % 2 else hits, attacks), *rest)}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (flattering, ("they are not treated alike",)),
        (better_first, ("copies are found among those who are called members only",)),
        (uneven, ("attacks on members and", "on the control group")),
        (blind_one, ("are not found to tell more",)),
        (unrepeatable, ("two runs on one case differ",)),
        (lambda case: {"links": ((7, 5), (1, 5), (1, 5))}, ("successes of attacks",)),
    ],
    ids=["flattering", "better_first", "uneven", "blind", "unrepeatable", "impossible"],
)
def test_a_disclosure_attack_that_favours_a_group_or_finds_nothing(make: Any, words: Sequence[str]) -> None:
    mine = Attack(name="mine", kind="disclosure", guess=make, paper="none", knows=("rows",))
    refused(lambda: check_attack(mine), *words)


# An engine.


def losing(source: Any, schema: Schema, **options: Any) -> Any:
    """Leaves out the last row."""
    return in_memory(source.slice(0, max(len(source) - 1, 0)), schema, **options)


def careless(source: Any, schema: Schema, **options: Any) -> Any:
    """Leaves out rows with a missing value in the first column, so that one value decides on a row."""
    import pyarrow.compute as pc

    return in_memory(source.filter(pc.is_valid(source[schema.names[0]])), schema, **options)


@pytest.mark.parametrize("connect", [losing, careless])
def test_an_engine_that_loses_rows(connect: Any) -> None:
    mine = Engine(
        name="mine",
        takes="tables",
        accepts=lambda one: isinstance(one, pa.Table),
        connect=connect,
        reads_kinds=True,
    )
    store = EngineStore(put=lambda rows: {"source": rows, "engine": mine})
    refused(lambda: check_engine(store, cases=8), "answers_as_memory_does", "other rows are kept")


def test_an_engine_that_takes_everything() -> None:
    mine = Engine(name="mine", takes="all", accepts=lambda one: True, connect=in_memory)
    store = EngineStore(put=lambda rows: {"source": rows, "engine": mine})
    refused(lambda: check_engine(store, cases=1), "the engine 'mine' accepts")


# A column kind.


@dataclass(frozen=True)
class Escaping(Numeric):
    """Puts values into more cells than it declares."""

    kind: ClassVar[str] = "escaping"

    @property
    def cells(self) -> int:
        return 3


@dataclass(frozen=True)
class Fewer(Categorical):
    """Says that it has fewer cells than it has."""

    kind: ClassVar[str] = "fewer"

    @property
    def cells(self) -> int:
        return 1


@dataclass(frozen=True)
class Remembering(Numeric):
    """Reads how far a value is from the largest so far: one row moves all that follow."""

    kind: ClassVar[str] = "remembering"
    largest: ClassVar[list[float]] = [0.0]

    def read(self, number: float, text: str | None) -> float:
        self.largest[0] = max(self.largest[0], number if abs(number) < 1e9 else 0.0)
        return self.largest[0] - number


@dataclass(frozen=True)
class Forgetful(Categorical):
    """Reads the first letter, and not its own names."""

    kind: ClassVar[str] = "forgetful"

    def read(self, number: float, text: str | None) -> str | None:
        return {"a": "alpha", "b": "beta"}.get((text or "")[:2])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Escaping("x", 0, 10), ("every_value_is_read_within_the_declaration", "falls into cell 5 of 3")),
        (Fewer("x", ["a", "b"]), ("the_kind_is_declared", "2 labels for 1 cells")),
        (
            Remembering("x", 0, 10),
            ("each_row_is_read_by_itself", "is read otherwise alone than among others"),
        ),
        (Forgetful("x", ["alpha", "beta"]), ("the released value 'alpha' of cell 0 is read into cell 1",)),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_a_column_whose_encoding_leaves_its_declaration(column: Any, words: Sequence[str]) -> None:
    refused(lambda: check_column(column), *words)


def test_something_else_is_refused() -> None:
    strange: Any = object()
    for check in (check_attack, check_column, check_synthesizer):
        with pytest.raises(ParameterError, match=r"got (attack|column|method)=an object"):
            check(strange)
