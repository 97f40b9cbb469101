"""The contract of a mechanism: its law, its curve, its sampler and its stored form agree.

One function for each statement, about a class of mechanisms or about an instance of it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import AdjacencyError, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._mechanisms import MECHANISMS, mechanism_from_json
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.refute._broken import with_less_noise
from holdfast.refute._subject import of_mechanism
from holdfast.refute._suite import refute
from holdfast.testing._contract import Check, ensure, ensure_near, refusal_text

BAD_NUMBERS = (0, -1.0, float("nan"), float("inf"))
"""Numbers that every parameter of a mechanism must refuse."""
ODD_ENTRIES: tuple[Any, ...] = (
    *(0.0, -0.0, 2.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 2**70, -(2**2000), True),
    *(None, "a", "", "12", 1j, np.float32(0.5), np.uint64(2**64 - 1), np.datetime64("NaT"), Decimal("0.1")),
)
"""What one record may leave in a value, in place of a number."""
RATIO_DRAWS = 100
"""Draws at which likelihood ratios are compared."""


def declares_what_it_rests_on(kind: type[Mechanism]) -> None:
    """A theorem, neighbour relations that exist, and examples to check the rest on."""
    ensure(bool(kind.theorem), "theorem must name the statement that the curve rests on")
    ensure(kind.admissible <= set(Adjacency), "admissible must hold members of Adjacency")
    ensure(len(kind.examples()) >= 1, "examples() must give an instance: the contract needs one")


def is_stored_without_loss(mechanism: Mechanism) -> None:
    """Ledgers keep mechanisms and curves as JSON: what is read back is what was written."""
    stored = json.loads(json.dumps(mechanism.to_json()))
    ensure(type(mechanism).from_json(stored) == mechanism, f"from_json gives another mechanism for {stored}")
    if type(mechanism) in MECHANISMS:
        ensure(mechanism_from_json(stored) == mechanism, f"a ledger reads another mechanism from {stored}")
    curve = curve_from_json(json.loads(json.dumps(mechanism.curve.to_json())))
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        expected = mechanism.curve.delta(epsilon)
        ensure_near(
            curve.delta(epsilon), expected, f"delta({epsilon:g}) of the stored curve", rel=1e-12, within=1e-12
        )


def refuses_parameters_outside_their_range(mechanism: Mechanism) -> None:
    """Every number among the parameters has a range, and the error names the parameter."""
    for field in dataclasses.fields(mechanism):
        value = getattr(mechanism, field.name)
        if isinstance(value, float | int) and not isinstance(value, bool):
            for bad in BAD_NUMBERS:
                refusal_text(
                    partial(_with_fields, mechanism, **{field.name: bad}),
                    f"{field.name}={bad}",
                    kinds=(ParameterError,),
                    naming=field.name,
                )


def refuses_an_account_of_another_adjacency(mechanism: Mechanism) -> None:
    """A sensitivity that was derived for one neighbour relation says nothing about another."""
    value = mechanism.worst_pair()[0]
    proved = {adjacency for adjacency in mechanism.admissible if _admits_adjacency(mechanism, adjacency)}
    ensure(bool(proved), "no neighbour relation is left for these parameters")
    for adjacency in Adjacency:
        account = Account(ApproxDP(1e6, 0.5), adjacency=adjacency, currency="basic", seed=0)
        if adjacency not in proved:
            refusal_text(
                partial(account.release, mechanism, value),
                f"an account of {adjacency.value}",
                kinds=(AdjacencyError,),
                naming=adjacency.value,
            )
        else:
            for other in proved - {adjacency}:
                declared = _with_fields(mechanism, adjacency=other)
                refusal_text(
                    partial(account.release, declared, value),
                    f"an account of {adjacency.value} for a sensitivity under {other.value}",
                    kinds=(AdjacencyError,),
                    naming=other.value,
                )


def _admits_adjacency(mechanism: Mechanism, adjacency: Adjacency) -> bool:
    """Whether the mechanism, with these parameters, covers this relation; monotone scores do not cover every one."""
    try:
        _with_fields(mechanism, adjacency=adjacency)
    except AdjacencyError:
        return False
    return True


def refuses_a_value_without_numbers_before_charging(mechanism: Mechanism) -> None:
    """The shape of a value is public: where it is none, the release is refused and costs nothing."""
    adjacency = sorted(mechanism.admissible, key=str)[0]
    account = Account(ApproxDP(100.0, 0.5), adjacency=adjacency, currency="basic", seed=0)
    bad: Any
    for bad in ([], [[1, 2], [3]], {}):
        refusal_text(partial(account.release, mechanism, bad), f"the value {bad!r}")
        ensure(account.journal.spent("") is None, f"the value {bad!r} is refused after charging")


def a_release_does_not_tell_how_its_value_is_held(mechanism: Mechanism) -> None:
    """Equal numbers are released equally, bit by bit, whether whole, real or text: one record can change which."""
    for probe in mechanism.probes():
        expected = _release_of(mechanism, probe)
        for held in _held_otherwise(np.asarray(probe)):
            ensure(
                _release_of(mechanism, held) == expected,
                f"the numbers {np.asarray(probe).tolist()} are released otherwise as {type(held).__name__} "
                f"of dtype {np.asarray(held).dtype}",
            )


def a_release_has_the_type_that_is_declared(mechanism: Mechanism) -> None:
    """Whatever one number of the value is, nothing is refused, and type, dtype and shape are the same."""
    for probe in mechanism.probes():
        expected = _release_of(mechanism, probe)[:3]
        for entry in ODD_ENTRIES:
            value = np.array(np.asarray(probe).tolist(), dtype=object)
            value.flat[0] = entry
            ensure(
                _release_of(mechanism, value)[:3] == expected,
                f"a release has another type or shape where the value holds {entry!r}",
            )
            ensure(
                _release_of(mechanism, value.tolist())[:3] == expected,
                f"a release has another type or shape where a list holds {entry!r}",
            )


def _release_of(mechanism: Mechanism, value: Any) -> tuple[type, str, tuple[int, ...], bytes]:
    """What is seen of a release with seeded noise: its type, dtype, shape and bytes."""
    output = mechanism.sample(mechanism.check(value), Source(seed=21))
    array = np.asarray(output)
    return type(output), array.dtype.str, array.shape, array.tobytes()


def _held_otherwise(numbers: NDArray[Any]) -> Iterator[Any]:
    """The same numbers, as other types hold them."""
    yield numbers.tolist()
    yield numbers.astype(object)
    yield np.array([Fraction(number) for number in numbers.tolist()], dtype=object)
    yield numbers.astype(np.float64)
    yield numbers.astype(np.longdouble)
    yield np.array([repr(number) for number in numbers.tolist()])
    if np.all(numbers == np.rint(numbers)):
        for dtype in (np.int8, np.int64, np.float32, np.float16):
            yield numbers.astype(dtype)
        yield [int(number) for number in numbers.tolist()]
    if np.all((numbers == 0) | (numbers == 1)):
        yield numbers.astype(bool)
        yield numbers.astype(np.uint64)


def seeded_draws_repeat_and_secure_ones_do_not(mechanism: Mechanism) -> None:
    """All randomness comes from the source that is handed in."""
    value = mechanism.check(mechanism.worst_pair()[0])

    def stream(seed: int | None) -> list[Any]:
        source = Source(seed)
        return [np.asarray(mechanism.sample(value, source)).tolist() for _ in range(200)]

    ensure(stream(5) == stream(5), "two sources of one seed give different draws")
    ensure(stream(None) != stream(None), "two secure sources give the same draws")


def is_not_refuted(mechanism: Mechanism) -> None:
    """Draws against the declared law, the worst pair against the sensitivity, releases against the curve."""
    (verdict,) = refute([of_mechanism(mechanism, draws=2400)]).verdicts
    tests = {outcome.test for outcome in verdict.outcomes}
    ensure(tests == {"law", "freshness", "neighbours", "audit"}, f"only {sorted(tests)} were tried")
    ensure(not verdict.refuted, verdict.summary())


def a_third_of_the_noise_is_refuted(mechanism: Mechanism) -> None:
    """The audit at the worst pair has power: it sees a third of the noise."""
    subject = of_mechanism(
        mechanism, sample=with_less_noise(mechanism, 3.0).sample, broken="a third of the noise"
    )
    (verdict,) = refute([dataclasses.replace(subject, trials=subject.trials[-1:])]).verdicts
    ensure(verdict.refuted_by() == ("audit",), "the audit has no power: " + verdict.summary())


def half_of_the_noise_breaks_the_declared_law(mechanism: Mechanism) -> None:
    """The test of the law has power: it sees half of the noise."""
    subject = of_mechanism(
        mechanism, sample=with_less_noise(mechanism).sample, broken="half the noise", draws=1600
    )
    (verdict,) = refute([dataclasses.replace(subject, trials=subject.trials[:1])]).verdicts
    ensure(verdict.refuted_by() == ("law",), "the test of the law has no power: " + verdict.summary())


def the_declared_law_is_a_law(mechanism: Mechanism) -> None:
    """`cdf` grows from 0 to 1."""
    for value in map(mechanism.check, mechanism.probes()):
        at = np.sort(np.concatenate([np.linspace(-60.0, 60.0, 999), np.arange(-5.0, 6.0)]))
        law = mechanism.cdf(value, at)
        ensure(law.shape == at.shape, f"cdf gives the shape {law.shape} for {at.shape}")
        ensure(bool(np.all(np.diff(law) >= -1e-15)), "cdf falls somewhere")
        ensure_near(float(law[0]), 0.0, "cdf at -60", within=1e-9)
        ensure_near(float(law[-1]), 1.0, "cdf at 60", within=1e-9)


def the_worst_pair_is_one_sensitivity_apart(mechanism: Mechanism) -> None:
    """`distance` counts in units of the declared sensitivity, and the pair exhausts it."""
    low, high = map(mechanism.check, mechanism.worst_pair())
    ensure_near(mechanism.distance(low, high), 1.0, "the distance of the worst pair", rel=1e-6)
    ensure_near(mechanism.distance(high, low), 1.0, "the distance of the worst pair, turned round", rel=1e-6)
    ensure(mechanism.distance(low, low) == 0.0, "a value has a distance from itself")


def the_log_ratio_is_that_of_the_declared_law(mechanism: Mechanism) -> None:
    """`log_ratio` is 0 for equal values, changes sign with their order, and agrees with `cdf` around each draw."""
    low, high = map(mechanism.check, mechanism.worst_pair())
    source = Source(seed=11)
    outputs = [mechanism.sample(low, source) for _ in range(RATIO_DRAWS)]
    numbers = np.array([float(np.ravel(output)[0]) for output in outputs])
    gaps = np.diff(np.unique(numbers))
    ensure(gaps.size > 0, "all draws are equal")
    # A law on few points is compared point by point, another one in cells that are narrow beside its spread.
    has_few_points = gaps.size < RATIO_DRAWS // 2
    width = (
        0.5 * float(gaps.min())
        if has_few_points
        else 1e-3 * float(np.median(np.abs(numbers - np.median(numbers))))
    )
    cells = [
        mechanism.cdf(value, numbers + width) - mechanism.cdf(value, numbers - width) for value in (low, high)
    ]
    expected = np.log(cells[0]) - np.log(cells[1])
    for output, ratio in zip(outputs, expected.tolist(), strict=True):
        ensure(mechanism.log_ratio(low, low, output) == 0.0, "a value has a log-ratio against itself")
        log_ratio = mechanism.log_ratio(low, high, output)
        ensure_near(log_ratio, ratio, "the log-ratio", within=1e-2)
        ensure_near(mechanism.log_ratio(high, low, output), -log_ratio, "the ratio turned round", within=1e-9)


def the_log_ratio_changes_one_law_into_the_other(mechanism: Mechanism) -> None:
    """P[l > 0] under the second value is the mean of e^-l where l > 0 under the first, in any dimension.

    A change of measure: it fails for a ratio that the sampler does not have. Both sides lie between 0 and 1, so that no
    heavy tail decides.
    """
    for first, second in _shifted_values(mechanism):
        ratios = []
        for number, centre in enumerate((first, second)):
            source = Source(seed=12 + number)
            outputs = [mechanism.sample(centre, source) for _ in range(5 * RATIO_DRAWS)]
            ratios.append(np.array([mechanism.log_ratio(first, second, output) for output in outputs]))
        weights, indicators = (
            np.where(ratios[0] > 0, np.exp(-ratios[0]), 0.0),
            np.where(ratios[1] > 0, 1.0, 0.0),
        )
        error = math.sqrt((float(np.var(weights)) + float(np.var(indicators))) / (5 * RATIO_DRAWS))
        gap = abs(float(np.mean(weights) - np.mean(indicators)))
        # The seeds are fixed: a mechanism passes always or never.
        ensure(gap <= 4.0 * error + 1e-12, f"the two sides differ by {gap:.3g}, with an error of {error:.3g}")


def _shifted_values(mechanism: Mechanism) -> Iterator[tuple[Any, Any]]:
    """The worst pair, and every probe with its first number moved as the pair's is."""
    low, high = map(mechanism.check, mechanism.worst_pair())
    yield low, high
    for probe in map(mechanism.check, mechanism.probes()):
        shifted = probe.copy()
        shifted.flat[0] += probe.dtype.type(high.flat[0] - low.flat[0])
        try:
            yield probe, mechanism.check(shifted)
        except ParameterError:  # a code that does not exist
            continue


FAST_CHECKS: tuple[Callable[[Mechanism], None], ...] = (
    is_stored_without_loss,
    refuses_parameters_outside_their_range,
    refuses_an_account_of_another_adjacency,
    refuses_a_value_without_numbers_before_charging,
    a_release_does_not_tell_how_its_value_is_held,
    a_release_has_the_type_that_is_declared,
    seeded_draws_repeat_and_secure_ones_do_not,
    half_of_the_noise_breaks_the_declared_law,
    the_declared_law_is_a_law,
    the_worst_pair_is_one_sensitivity_apart,
    the_log_ratio_is_that_of_the_declared_law,
    the_log_ratio_changes_one_law_into_the_other,
)
SLOW_CHECKS: tuple[Callable[[Mechanism], None], ...] = (is_not_refuted, a_third_of_the_noise_is_refuted)


def kind_checks(kind: type[Mechanism]) -> Iterator[Check]:
    """The checks of a class of mechanisms."""
    yield Check(name=declares_what_it_rests_on.__name__, run=partial(declares_what_it_rests_on, kind))


def example_checks(mechanism: Mechanism) -> Iterator[Check]:
    """The checks of one mechanism."""
    for check in FAST_CHECKS:
        yield Check(name=check.__name__, run=partial(check, mechanism))
    for check in SLOW_CHECKS:
        yield Check(name=check.__name__, run=partial(check, mechanism), slow=True)


def _with_fields(mechanism: Mechanism, **fields: Any) -> Mechanism:
    altered: Mechanism = dataclasses.replace(mechanism, **fields)
    return altered
