"""The public contract suites: what keeps its contract passes, and what breaks it is named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._problem import Problem
from holdfast.learn._rows.examples import Examples
from holdfast.learn.methods.method import Fit, Learner
from holdfast.noise._source import Source
from holdfast.privacy import Account, Gaussian, Laplace
from holdfast.privacy._mechanisms.mechanism import Arithmetic
from holdfast.synth import SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod
from holdfast.testing import check_mechanism, check_method, check_replay, mechanism_checks, method_checks
from holdfast.testing._learners import learner_checks
from holdfast.testing._synthesisers import synthesiser_checks


def broken_by(subject: Any, checks: Any) -> set[str]:
    """The checks that a subject breaks; each says its name."""
    found = {}
    for check in checks(subject):
        try:
            check()
        except AssertionError as error:
            found[check.name] = str(error)
    assert all(message.startswith(name) for name, message in found.items())
    return set(found)


def first(methods: tuple[Any, ...], name: str) -> Any:
    (method,) = (one for one in methods if one.name == name)
    return method


@dataclass(frozen=True, kw_only=True)
class MyGaussian(Gaussian):
    """A mechanism of a third party: in no registry."""


@dataclass(frozen=True, kw_only=True)
class HalfNoise(Gaussian):
    """Draws half of what it declares."""

    def sample(self, value: Any, source: Source) -> Any:
        return (super().sample(value, source) + np.asarray(value)) / 2


@dataclass(frozen=True, kw_only=True)
class FixedNoise(Gaussian):
    """Draws the same noise every time."""

    def sample(self, value: Any, source: Source) -> Any:
        return super().sample(value, Source(1))


@dataclass(frozen=True, kw_only=True)
class WrongLaw(Laplace):
    """Declares a law of twice its scale, and refuses nothing."""

    def cdf(self, value: Any, at: Any) -> Any:
        return super().cdf(value, np.asarray(value)[0] + (at - np.asarray(value)[0]) / 2)

    def validate(self) -> None:
        """Nothing."""


SMALL = {"sigma": 1.0, "l2_sensitivity": 1.0, "arithmetic": "idealised"}


@pytest.mark.slow
def test_a_mechanism_of_ones_own_passes() -> None:
    check_mechanism(MyGaussian(**SMALL))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "broken"),
    [
        (HalfNoise(**SMALL), {"is_not_refuted"}),  # type: ignore[arg-type]
        (FixedNoise(**SMALL), {"seeded_draws_repeat_and_secure_ones_do_not", "is_not_refuted"}),  # type: ignore[arg-type]
        (
            WrongLaw(scale=1.0, l1_sensitivity=1.0, arithmetic="idealised"),
            {"refuses_parameters_outside_their_range", "is_not_refuted"},
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_broken_mechanism_breaks_what_it_breaks(mechanism: Any, broken: set[str]) -> None:
    assert broken_by(mechanism, mechanism_checks) >= broken


@pytest.mark.slow
def test_a_broken_mechanism_is_named_with_all_that_it_breaks() -> None:
    with pytest.raises(AssertionError, match=r"FixedNoise breaks \d of \d+ checks") as raised:
        check_mechanism(FixedNoise(**SMALL))  # type: ignore[arg-type]
    assert "seeded_draws_repeat_and_secure_ones_do_not: two secure sources" in str(raised.value)


def test_a_class_is_checked_on_all_its_examples() -> None:
    names = [check.name for check in mechanism_checks(Gaussian)]
    assert names.count("is_stored_without_loss") == len(Gaussian.examples())
    assert names.count("declares_what_it_rests_on") == 1


def under(method: Any, adjacency: str) -> Any:
    """The method with one of its neighbour relations; all of them are tried by contracts and refutation."""
    assert adjacency in method.adjacencies
    return replace(method, adjacencies=(adjacency,))


@pytest.mark.slow
@pytest.mark.deep  # the package of the tutorial has a learner that passes
def test_a_learner_that_keeps_its_contract_passes() -> None:
    check_method(under(first(LEARNERS, "output"), "add_remove"))


def free(examples: Examples, problem: Problem, *, account: Account) -> Fit:
    """A learner that charges nothing and adds no noise."""
    total = np.zeros(problem.dimension)
    for rows, labels in examples.chunks():
        total += labels @ rows
    return Fit(weights=total, theorem="")


def test_a_learner_that_charges_nothing_is_named() -> None:
    method = Learner(name="free", run=free, paper="none", pure=True)
    broken = broken_by(method, learner_checks)
    spending = "spends_no_more_than_its_limit_and_says_why_it_is_private"
    assert {f"{spending}-{adjacency}" for adjacency in method.adjacencies} <= broken
    assert "a_seed_repeats_and_another_differs-replace" in broken
    # What every method is asked before it runs, a method cannot forget.
    assert "refuses_rows_of_other_neighbours_than_the_accounts" not in broken
    assert "refuses_bad_constants_before_spending" not in broken
    with pytest.raises(AssertionError, match="differs although all outputs are the same"):
        check_replay(method)


def test_a_learner_without_named_options_is_named() -> None:
    """What the learners of holdfast are held to, `check_method` holds others to."""

    def careless(
        examples: Examples,
        problem: Problem,
        *,
        account: Account,
        arithmetic: Arithmetic = "strict",
        **options: Any,
    ) -> Fit:
        fit: Fit = OUTPUT.run(examples, problem, account=account, arithmetic=arithmetic)
        return fit

    def fixed(examples: Examples, problem: Problem, *, account: Account, scale: float = 1.0) -> Fit:
        fit: Fit = OUTPUT.run(examples, problem, account=account)
        return fit

    for run in (careless, fixed):
        method = replace(OUTPUT, name=run.__name__, run=run, adjacencies=("add_remove",))
        assert broken_by(method, learner_checks) == {"declares_its_options_by_name"}


@pytest.mark.slow
@pytest.mark.deep  # tests/contracts/test_synth_methods.py runs each of its checks
def test_a_synthesiser_that_keeps_its_contract_passes() -> None:
    check_method(first(SYNTHESISERS, "independent"))


def test_a_synthesiser_that_promises_too_much_is_named() -> None:
    honest: SynthesisMethod = first(SYNTHESISERS, "independent")
    names = {check.name for check in method_checks(honest)}
    assert "impossible_records_are_never_released" in names

    def lavish(data: Any, workload: Any, *, account: Account, **options: Any) -> Any:
        open_handed = Account(account.limit, adjacency=account.adjacency, unit=account.unit, currency="zcdp")
        return honest.run(data, workload, account=open_handed, **options)

    broken = broken_by(replace(honest, name="lavish", run=lavish), synthesiser_checks)
    assert "a_seed_repeats_the_run" in broken
    assert "a_job_that_runs_again_repeats_itself_and_pays_once" in broken
    assert {f"spends_no_more_than_its_limit_and_most_of_it-{one}" for one in honest.adjacencies} <= broken


def test_something_else_is_refused() -> None:
    with pytest.raises(ParameterError, match="Learner or a SynthesisMethod"):
        check_method(object())  # type: ignore[arg-type]


OUTPUT = first(LEARNERS, "output")


def test_transcripts_of_a_method_are_checked_with_the_rest() -> None:
    names = [check.name for check in method_checks(OUTPUT)]
    for adjacency in OUTPUT.adjacencies:
        for kind in ("check_replay", "check_freshness", "check_sampling"):
            assert f"{kind}-{adjacency}" in names


def test_a_method_that_lets_something_through_fails_its_replay() -> None:
    def leaking(examples: Any, problem: Any, *, account: Any) -> Any:
        fit = OUTPUT.run(examples, problem, account=account)
        rows = sum(len(labels) for _, labels in examples.chunks())
        return replace(fit, parameters={**fit.parameters, "rows": rows})

    mine = replace(OUTPUT, name="leaking", run=leaking, adjacencies=("add_remove",))
    with pytest.raises(AssertionError, match=r"parameters\.rows differs"):
        check_replay(mine)
