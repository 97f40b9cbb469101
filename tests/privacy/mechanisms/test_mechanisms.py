from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import log_softmax

from holdfast.errors import BudgetExceeded, ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import (
    ZCDP,
    Account,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    PermuteAndFlip,
    PureDP,
    RandomisedResponse,
    RenyiDP,
    SubsampledPure,
    Thresholded,
    VectorLaplace,
    WithSlack,
)
from holdfast.privacy._curves import CURVES
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.finite_curve import BoundedRange
from holdfast.privacy._curves.laplace import LaplaceCurve
from holdfast.privacy._grid import Grid, nearest_whole
from holdfast.privacy._mechanisms import MECHANISMS
from holdfast.privacy._rounding import root_above


def spread(mechanism: Any, value: float, size: int = 100_000) -> NDArray[np.float64]:
    return np.asarray(mechanism.sample(np.full(size, value), Source(11)), float) - value


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_gaussian_noise_has_its_declared_deviation(arithmetic: Any) -> None:
    noise = spread(Gaussian(sigma=3.0, l2_sensitivity=1e3, arithmetic=arithmetic), 0.7)
    assert np.mean(noise**2) / 9 == pytest.approx(1, abs=5 * np.sqrt(2 / noise.size))
    assert np.mean(noise) == pytest.approx(0, abs=5 * 3 / np.sqrt(noise.size))


@pytest.mark.parametrize("arithmetic", ["strict", "idealised"])
def test_laplace_noise_has_its_declared_scale(arithmetic: Any) -> None:
    noise = spread(Laplace(scale=3.0, l1_sensitivity=1e6, arithmetic=arithmetic), 0.7)
    assert np.mean(np.abs(noise)) / 3 == pytest.approx(1, abs=5 / np.sqrt(noise.size))


def test_a_sum_that_one_record_makes_a_double_is_released_as_the_others() -> None:
    """pandas adds whole numbers to a whole number, and to a double where one row is 2.5 (finding V1)."""
    for mechanism in (Gaussian(sigma=2.0, l2_sensitivity=5.0), Laplace(scale=2.0, l1_sensitivity=5.0)):
        without, beside = (
            mechanism.sample(mechanism.check(total), Source(1)) for total in ([102], [102 + 2.5])
        )
        assert without.dtype == beside.dtype == np.float64
        assert beside - without == 2.5
        assert without != np.rint(without), "whole numbers have noise of their own kind"


@pytest.mark.parametrize(
    "mechanism",
    [DiscreteGaussian(sigma=2.0, l2_sensitivity=3), DiscreteLaplace(scale=2.0, l1_sensitivity=3)],
    ids=lambda mechanism: mechanism.name,
)
def test_where_whole_numbers_are_declared_others_become_the_nearest(mechanism: Any) -> None:
    def drawn(value: Any) -> Any:
        return mechanism.sample(mechanism.check(value), Source(1))

    whole, real = drawn([3, 0, 7, 1]), drawn([2.5, -0.5, 7.49, 1.0])
    assert whole.dtype == real.dtype == np.int64
    assert real.tolist() == whole.tolist()
    # Beside a number that doubles hold in steps above 1 all are rounded exactly.
    whole, real = drawn([3, 0, 7, 2**63 - 1]), drawn([2.5, -0.5, 7.49, 2.0**80])
    assert real[:3].tolist() == whole[:3].tolist()
    assert real[3] == 2**63 - 1, "what is beyond 64 bits is the last of them"


def test_whole_scores_weigh_what_real_ones_do() -> None:
    for kind in (Exponential, PermuteAndFlip):
        mechanism = kind(epsilon=1.0, sensitivity=1.0)
        (whole, weight), (real, same_weight) = (
            mechanism.on_grid(mechanism.check(scores)) for scores in ([0, 40, 3], [0.0, 40.0, 3.0])
        )
        assert (whole.tolist(), weight) == (real.tolist(), same_weight)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e3))
def test_laplace_within_a_limit_spends_it_exactly(sensitivity: float, epsilon: float) -> None:
    """The scale takes the sensitivity as it is charged: as it was written, not as a double holds it (finding W1)."""
    limit = PureDP(epsilon)
    assert Laplace.within(limit, l1_sensitivity=sensitivity).curve.as_pure() == limit.as_pure()


@given(st.floats(-1e20, 1e20), st.integers(-(2**70), 2**70))
def test_rounding_to_whole_numbers_keeps_shifts_by_whole_numbers(value: float, shift: int) -> None:
    moved = np.array([Fraction(value), Fraction(value) + shift], dtype=object)
    first, second = nearest_whole(moved).tolist()
    assert second - first == shift
    assert nearest_whole(np.array([value])).tolist() == [first]


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("size", [1, 3, 10_000])
def test_strict_noise_pays_for_rounding_the_centre(
    sigma: float, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Soundness, section 16: with sensitivity + sqrt(d) g the declared mu needs this much noise."""
    from holdfast.privacy._mechanisms import gaussian as gaussian_file
    from holdfast.privacy._mechanisms import laplace as laplace_file

    drawn: list[Fraction] = []

    def record(source: Source, *, size: int, **scale: Fraction) -> NDArray[np.int64]:
        drawn.extend(scale.values())
        return np.ones(size, np.int64)

    monkeypatch.setattr(gaussian_file, "rounded_gaussian", record)
    monkeypatch.setattr(laplace_file, "discrete_laplace", record)
    for mechanism, growth in (
        (Gaussian(sigma=sigma, l2_sensitivity=1.0), root_above(size)),
        (Laplace(scale=sigma, l1_sensitivity=1.0), Fraction(size)),
    ):
        step = Fraction(float(mechanism.sample(np.zeros(size), Source(0))[0]))
        exact = Fraction(str(sigma))
        assert drawn.pop() * step == exact * (1 + growth * step)
        assert step <= exact / 2**19
        assert growth * step <= Fraction(1, 2**14) or step <= exact / 2**35


def test_outputs_lie_on_the_public_grid() -> None:
    noisy = Gaussian(sigma=1.0, l2_sensitivity=1.0).sample(np.array([0.1, 1e-17, 3.3]), Source(5))
    steps = noisy / 2.0**-20
    assert np.array_equal(steps, np.rint(steps))


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(-60, 60))
def test_rounding_to_the_grid_moves_neighbours_by_at_most_a_step(a: float, b: float, exponent: int) -> None:
    first, second = (int(x) for x in Grid(exponent).nearest(np.array([a, b])))
    step = Fraction(2) ** exponent
    assert abs(first - second) * step <= abs(Fraction(a) - Fraction(b)) + step


def test_gamma_norm_noise_has_the_length_of_its_dimension() -> None:
    """Soundness, section 0: mean norm 10 at d = 10; discrete Laplace coordinates 13.39."""
    ideal = VectorLaplace(epsilon=1.0, l2_sensitivity=1.0, arithmetic="idealised")
    strict = VectorLaplace(epsilon=1.0, l2_sensitivity=1.0)
    source = Source(2)
    norms = [np.linalg.norm(ideal.sample(np.zeros(10), source)) for _ in range(4000)]
    assert np.mean(norms) == pytest.approx(10, abs=5 * np.sqrt(10 / 4000))
    norms = [np.linalg.norm(strict.sample(np.zeros(10), source)) for _ in range(4000)]
    assert np.mean(norms) == pytest.approx(13.39, abs=0.35)


@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=6),
    st.lists(st.floats(-1, 1), min_size=6, max_size=6),
    st.booleans(),
)
def test_choices_stay_within_their_range_for_all_neighbours(
    scores: list[float], moves: list[float], monotone: bool
) -> None:
    """The exact law of the strict sampler: log-ratios lie in an interval of length epsilon."""
    first = np.array(scores)
    move = np.abs(moves[: first.size]) if monotone else np.array(moves[: first.size])
    logs = []
    for value in (first, first + move):
        steps, factor = Exponential(epsilon=1.0, sensitivity=1.0, monotone=monotone).on_grid(value)
        logs.append(log_softmax((steps - steps.max()).astype(float) * float(factor)))
    ratio = logs[0] - logs[1]
    assert np.ptp(ratio) <= 1 + 1e-9
    assert np.max(np.abs(ratio)) <= 1 + 1e-9


def test_far_from_a_tie_a_choice_reaches_its_epsilon() -> None:
    """Soundness, section 0: gap 40, Gumbel scale 2, |log ratio| = 1.000."""
    logs = []
    for value in (np.array([40.0, 0.0]), np.array([39.0, 1.0])):
        steps, factor = Exponential(epsilon=1.0, sensitivity=1.0).on_grid(value)
        logs.append(log_softmax((steps - steps.max()).astype(float) * float(factor)))
    assert np.max(np.abs(logs[0] - logs[1])) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("limit", [ApproxDP(1.0, 1e-6), ApproxDP(16.0, 1e-6), ZCDP(0.3), GaussianDP(0.7)])
def test_least_noise_is_within_and_tight(limit: Any) -> None:
    found = Gaussian.within(limit, l2_sensitivity=2.0)
    assert found.curve.within(limit)
    assert not Gaussian(sigma=float(found.sigma) * 0.999, l2_sensitivity=2.0).curve.within(limit)


LIMITS: tuple[Any, ...] = (
    PureDP(1.0),
    BoundedRange(1.0),
    LaplaceCurve(1.0),
    ApproxDP(1.0, 0.0),
    *(ApproxDP(epsilon, delta) for epsilon in (0.01, 1.0, 16.0) for delta in (1e-9, 1e-6, 1e-2)),
    ZCDP(0.3),
    GaussianDP(0.7),
    RenyiDP((2.0, 8.0, 64.0), (0.1, 0.5, 6.0)),
    WithSlack(ApproxDP(1.0, 1e-6), tau=1e-9),
    WithSlack(ZCDP(0.3), probability=1e-9),
    WithSlack(PureDP(1.0), common=1e-9),
)
#: A threshold has no sensitivity to be told: test_thresholded.py.
CALIBRATED = [kind for kind in MECHANISMS if hasattr(kind, "within") and kind is not Thresholded]


def test_every_kind_of_limit_is_tried() -> None:
    kinds = {type(limit) for limit in LIMITS}
    assert kinds == {kind for kind in CURVES if kind.admits is not PrivacyCurve.admits}


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("kind", CALIBRATED, ids=lambda kind: kind.__name__)
def test_a_default_account_takes_what_is_within_its_limit(kind: Any, limit: Any) -> None:
    """Whole and in shares; where nothing of the kind is within the limit, that is said, with the way out."""
    pure = kind is Laplace
    moved: dict[str, Any] = {"l1_sensitivity" if pure else "l2_sensitivity": 1.0}
    for account in (Account(limit, seed=1), *Account(limit, seed=1).split(0.25, 0.5)):
        if (limit.as_pure() is not None) != pure:
            with pytest.raises(ParameterError, match="use Gaussian" if pure else "use Laplace"):
                kind.within(account.limit, **moved)
            continue
        mechanism = kind.within(account.limit, **moved)
        account.release(mechanism, [0.0, 3.0])
        with pytest.raises(BudgetExceeded, match=r"within account\.remaining\(\) fits"):
            account.release(mechanism, [0.0, 3.0])


@pytest.mark.parametrize("currency", ["gdp", "zcdp", "renyi"])
def test_any_account_takes_what_is_within_what_is_left(currency: str) -> None:
    account = Account(ApproxDP(1.0, 1e-6), currency=currency, seed=1)
    account.release(Gaussian(sigma=20.0, l2_sensitivity=1.0), [0.0])
    account.release(Gaussian.within(account.remaining(), l2_sensitivity=1.0), [0.0])


WHOLE = (
    Gaussian(sigma=2.0, l2_sensitivity=3.0),
    Laplace(scale=2.0, l1_sensitivity=3.0),
    DiscreteGaussian(sigma=2.0, l2_sensitivity=3),
    DiscreteLaplace(scale=2.0, l1_sensitivity=3),
)


@pytest.mark.parametrize("origin", [1, 2**53, 2**62, -(2**63), 2**63 - 1, 2**70, -(10**200)])
@pytest.mark.parametrize("mechanism", WHOLE, ids=lambda mechanism: mechanism.name)
def test_the_law_of_whole_numbers_does_not_know_their_origin(mechanism: Any, origin: int) -> None:
    def at(*offsets: int, start: int = origin) -> Any:
        return mechanism.check([start + offset for offset in offsets])

    near = [at(*offsets, start=0) for offsets in ((0, 0), (3, 0), (1, 2))]
    far = [at(*offsets) for offsets in ((0, 0), (3, 0), (1, 2))]
    assert mechanism.log_ratio(*far) == mechanism.log_ratio(*near) != 0.0
    assert mechanism.distance(*far[:2]) == mechanism.distance(*near[:2]) == 1.0


def test_the_classical_gaussian_is_not_used() -> None:
    """Soundness, section 0: classical sigma 0.3312 at epsilon 16 has delta 3.18e-5, not 1e-6."""
    assert Gaussian(sigma=0.3312, l2_sensitivity=1.0).curve.delta(16.0) == pytest.approx(3.18e-5, rel=0.01)
    assert float(Gaussian.within(ApproxDP(16.0, 1e-6), l2_sensitivity=1.0).sigma) == pytest.approx(
        0.3686, abs=1e-4
    )


def test_discrete_curves_are_their_own() -> None:
    """Soundness, section 16: at s = 1 the discrete Gaussian exceeds the normal's delta."""
    one = DiscreteGaussian(sigma=1.0, l2_sensitivity=1, dimension=1).curve
    worst = max(one.delta(e) / GaussianDP(1.0).delta(e) for e in np.linspace(0.1, 6, 60))
    assert worst > 1.5
    assert DiscreteGaussian(sigma=1.0, l2_sensitivity=1).curve == ZCDP(Fraction(1, 2))
    assert DiscreteLaplace(scale=2.0, l1_sensitivity=1, dimension=1).curve.as_pure() == Fraction(1, 2)
    assert DiscreteLaplace(scale=2.0, l1_sensitivity=3).curve == PureDP(Fraction(3, 2))
    # On a declared grid the rounding of the centre is charged.
    rounded = DiscreteLaplace(scale=1.0, l1_sensitivity=1.0, dimension=2, grid=0.25).curve
    assert rounded == PureDP(Fraction(3, 2))


def test_randomised_response_keeps_with_its_probability() -> None:
    mechanism = RandomisedResponse(epsilon=2.0, categories=5)
    noisy = mechanism.sample(np.full(50_000, 3), Source(4))
    keep = np.exp(2) / (np.exp(2) + 4)
    assert np.mean(noisy == 3) == pytest.approx(keep, abs=5 * np.sqrt(keep * (1 - keep) / 50_000))
    others = np.bincount(noisy, minlength=5)[[0, 1, 2, 4]]
    assert others.max() - others.min() < 6 * np.sqrt(others.mean())
    # A number that is no code becomes the nearest one: an error would tell of it.
    assert mechanism.check([5, -1, 2.5, None, 2**70]).tolist() == [4, 0, 3, 0, 4]


def test_amplified_pure_parameter() -> None:
    small = SubsampledPure(base=Laplace(scale=1.0, l1_sensitivity=1.0), rate=0.1)
    pure = small.curve.as_pure()
    assert pure is not None
    assert float(pure) == pytest.approx(np.log1p(0.1 * np.expm1(1.0)))
    with pytest.raises(ParameterError, match="pure"):
        SubsampledPure(base=Gaussian(sigma=1.0, l2_sensitivity=1.0), rate=0.1)


@pytest.mark.parametrize(
    "bad",
    [np.array([10.0]), np.array([[2.0]]), "3", [3.0], Decimal("1.5"), True],
    ids=lambda bad: type(bad).__name__,
)
def test_numbers_that_could_change_after_the_charge_are_refused(bad: Any) -> None:
    """An array of one number passes for a number, and can be changed in place (finding P9)."""
    for make in (
        lambda: Gaussian(sigma=bad, l2_sensitivity=1.0),
        lambda: Laplace(scale=1.0, l1_sensitivity=bad),
        lambda: DiscreteLaplace(scale=1.0, l1_sensitivity=1, grid=bad, dimension=1),
        lambda: Exponential(epsilon=bad, sensitivity=1.0),
        lambda: RandomisedResponse(epsilon=bad),
    ):
        with pytest.raises(ParameterError, match="a whole number, a float or a Fraction"):
            make()


@pytest.mark.parametrize("categories", [2, 5])
def test_shares_of_randomised_answers_are_unbiased_and_covered(categories: int) -> None:
    mechanism = RandomisedResponse(epsilon=1.0, categories=categories)
    people = np.random.default_rng(0).integers(categories, size=400)
    truth = np.bincount(people, minlength=categories) / people.size
    source, found, held = Source(1), [], 0
    for _ in range(300):
        made = mechanism.shares(mechanism.sample(people, source), confidence=0.9)
        found.append(made.share)
        held += all(low <= t <= high for t, (low, high) in zip(truth, made.interval, strict=True))
    np.testing.assert_allclose(np.mean(found, axis=0), truth, atol=4 * float(np.std(found)) / math.sqrt(300))
    assert held >= 0.9 * 300


def test_a_mechanism_of_ones_own_has_fixed_numbers() -> None:
    """A class of one's own checks no types of arguments; what could change after a charge is refused all the same."""

    @dataclass(frozen=True, kw_only=True)
    class Homemade(Gaussian):
        """Nothing of its own."""

    assert Homemade(sigma=2.0, l2_sensitivity=1.0).curve == GaussianDP(Fraction(1, 2))
    with pytest.raises(ParameterError, match="sigma"):
        Homemade(sigma=np.array([2.0]), l2_sensitivity=1.0)  # type: ignore[arg-type]
