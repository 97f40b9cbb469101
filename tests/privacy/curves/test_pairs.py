"""Pairs carry both masses at infinity and their direction; the numbers of soundness, section 21."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from holdfast.errors import ParameterError
from holdfast.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    LossDistribution,
    PrivacyCurve,
    PrivacyUnit,
    PureDP,
    RandomisedResponse,
    WithSlack,
    compose,
    subsample,
    to_replace,
)
from holdfast.privacy._curves.finite_curve import FinitePair
from holdfast.privacy._curves.gaussian import DiscreteGaussianCurve
from holdfast.privacy._curves.group_replace import GroupReplace
from holdfast.privacy._curves.laplace import DiscreteLaplaceCurve, LaplaceCurve
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._curves.subsampled import SubsampledCurve, SubsampledGaussianCurve
from holdfast.privacy._losses.atomic_pair import AtomicPair
from holdfast.privacy._losses.pairs import NormalPair, RemovedUnit

LOPSIDED = FinitePair((0.9, 0.1), (0.5, 0.5))


# (i) Three laws: what two and three steps of (epsilon, delta) come to.


@pytest.mark.parametrize("epsilon", [4.0, 20.0])
def test_a_curves_delta_grows_in_two_steps(epsilon: float) -> None:
    assert ApproxDP(2.0, 1e-6).group(2).delta(epsilon) == pytest.approx(8.389056e-6, rel=1e-6)
    assert ApproxDP(1.0, 1e-3).group(2).delta(epsilon) == pytest.approx(3.718282e-3, rel=1e-6)
    # The trade-off composed with itself says the same.
    assert GroupReplace(ApproxDP(2.0, 1e-6)).delta(epsilon) == pytest.approx(8.389056e-6, rel=1e-6)


def test_a_curves_delta_grows_in_three_steps() -> None:
    assert ApproxDP(2.0, 1e-6).group(3).delta(30.0) == pytest.approx(6.298721e-5, rel=1e-6)


def test_a_delta_beside_zcdp_is_still_a_curves_delta() -> None:
    mixed = compose([ApproxDP(2.0, 1e-6), ZCDP(1e-4)])
    assert mixed.group(2).delta(60.0) == pytest.approx(8.389056e-6, rel=1e-6)
    assert mixed.delta(60.0) == pytest.approx(1e-6, rel=1e-6)
    assert curve_from_json(mixed.to_json()) == mixed


# (ii) A hundred Poisson samples of (1, 1e-3).


def test_a_hundred_samples_by_enumeration() -> None:
    one = subsample(ApproxDP(1.0, 1e-3), 0.1)
    many = one.repeat(100)
    for epsilon, truth in {0.0: 0.392247, 0.5: 0.254236, 1.0: 0.145753, 2.0: 0.036077, 3.0: 0.012655}.items():
        assert many.delta(epsilon) == pytest.approx(truth, abs=6e-7)
    _, added = many.both_deltas(np.array([0.0, 0.5, 1.0, 2.0, 3.0]))
    assert added == pytest.approx([0.392247, 0.244146, 0.129642, 0.019273, 9.667e-4], abs=6e-7)
    assert one.delta(0.158565) == pytest.approx(1e-4, rel=1e-2)


# (iii) A loss distribution whose grid holds four fifths of the second law.


def test_what_the_grid_lacks_of_the_second_law_is_not_lost() -> None:
    base = LossDistribution.gaussian(10.0, spacing=1e-3)
    pair = base.pair()
    assert pair is not None
    assert pair.unseen == pytest.approx(0.2011, abs=5e-5)
    ten = subsample(base, 0.01).repeat(10)
    removed, added = ten.both_deltas(np.array([0.0, 0.05, 0.1]))
    assert max(removed[0], added[0]) == pytest.approx(0.095618, abs=1e-6)
    assert added[1:] == pytest.approx([0.049249, 5.03e-4], rel=1e-2)


# (iv) (.9, .1) against (.5, .5).


def test_directions_of_a_lopsided_pair() -> None:
    assert LOPSIDED.repeat(2).delta(1.0) == pytest.approx(0.2335, abs=5e-5)
    assert compose([LOPSIDED, FinitePair(LOPSIDED.q, LOPSIDED.p)]).delta(1.0) == pytest.approx(
        0.3141, abs=5e-5
    )
    assert LOPSIDED.either_way().repeat(2).delta(1.0) == pytest.approx(0.4054, abs=5e-5)
    removed, added = subsample(LOPSIDED, 0.3).repeat(3).both_deltas(np.array([0.5]))
    assert removed[0] == pytest.approx(0.03224, abs=5e-6)
    assert added[0] == pytest.approx(0.03453, abs=5e-6)
    exchanged = subsample(FinitePair(LOPSIDED.q, LOPSIDED.p), 0.3).repeat(3)
    assert exchanged.delta(0.5) == pytest.approx(0.07864, abs=5e-6)


def test_guarantees_under_replace_are_composed_either_way() -> None:
    for adjacency, least, most in (("replace", 0.3141, 0.4055), ("add_remove", 0.2335, 0.2336)):
        one = Guarantee(curve=LOPSIDED, adjacency=adjacency, unit=PrivacyUnit.row(), theorem="none")  # type: ignore[arg-type]
        assert least - 1e-4 < one.compose(one).curve.delta(1.0) < most


# (v), (vi) Slack: four entries, four rules.


def test_total_variation_is_not_made_smaller_by_a_sample() -> None:
    """Randomised response with e^epsilon = 11 at rate .1 and epsilon = ln 2: true 0.012, the rule 0.03."""
    curve = subsample(WithSlack(PureDP(math.log(11.0)), 0.01), 0.1)
    assert curve.total_variation == WithSlack(PureDP(1.0), 0.01).total_variation
    assert curve.delta(math.log(2.0)) == pytest.approx(0.03, abs=1e-9)


@pytest.mark.parametrize("size", [2, 5])
def test_each_entry_has_its_own_group_rule(size: int) -> None:
    base = PureDP(0.1)
    far = 40.0
    assert WithSlack(base, 0.0, 1e-3).group(size).delta(far) == pytest.approx(size * 1e-3)
    assert WithSlack(base, 0.0, 0.0, 1e-3).group(size).delta(far) == pytest.approx(1e-3)
    assert WithSlack(base, 1e-9).group(size).total_variation == WithSlack(base, 1e-9).total_variation


def test_each_entry_has_its_own_rule_for_two_steps_and_samples() -> None:
    base, far = PureDP(0.1), 40.0
    assert to_replace(WithSlack(base, 0.0, 1e-3)).delta(far) == pytest.approx(2e-3)
    assert to_replace(WithSlack(base, 0.0, 0.0, 1e-3)).delta(far) == pytest.approx(1e-3)
    sampled = subsample(WithSlack(base, 0.0, 1e-3, 2e-3), 0.1)
    assert sampled.delta(far) == pytest.approx(3e-4)
    # "Failed and this unit drawn" differs from unit to unit: it is common no more.
    assert isinstance(sampled, WithSlack)
    assert sampled.common == 0
    assert sampled.group(3).delta(far) == pytest.approx(9e-4)
    assert compose([WithSlack(base, 0.0, 1e-3, 2e-3)] * 2).group(3).delta(far) == pytest.approx(6e-3 + 4e-3)


def test_a_common_event_is_kept_in_files() -> None:
    curve = WithSlack(PureDP(1.0), 1e-9, 1e-6, 2e-6)
    assert curve_from_json(curve.to_json()) == curve
    assert WithSlack(PureDP(1.0), 1e-9).to_json()["common"] == 0


@pytest.mark.parametrize("outer", [SubsampledCurve, GroupReplace])
def test_slack_inside_a_curve_is_refused(outer: type[PrivacyCurve]) -> None:
    more = (0.1,) if outer is SubsampledCurve else ()
    with pytest.raises(ParameterError, match="outermost"):
        outer(WithSlack(PureDP(1.0), 0.01), *more)  # type: ignore[call-arg]


def test_a_curve_for_replace_is_not_sampled() -> None:
    with pytest.raises(ParameterError, match="subsample first"):
        subsample(to_replace(LOPSIDED), 0.1)
    with pytest.raises(ParameterError, match="to_replace"):
        subsample(LaplaceCurve(1.0), 0.1).either_way()


# Symmetry is declared, and what is declared is true.

SYMMETRIC = [
    PureDP(1.0),
    ApproxDP(0.5, 1e-3),
    LaplaceCurve(0.7),
    GaussianDP(0.8),
    DiscreteLaplaceCurve(2.0, 3),
    DiscreteGaussianCurve(3.0, 2),
    RandomisedResponse(epsilon=1.0).curve,
]


@pytest.mark.parametrize("curve", SYMMETRIC, ids=repr)
def test_a_pair_that_stands_for_both_directions_does(curve: PrivacyCurve) -> None:
    pair = curve.pair()
    assert pair is not None
    assert pair.is_symmetric
    edges = np.concatenate([[-np.inf], np.linspace(-4.0, 4.0, 41), [np.inf]]) + 0.0123
    there, back = pair.cells(edges), pair.cells(-edges[::-1])
    # P of a loss interval is Q of the interval with the opposite sign (atoms do not sit on these edges).
    assert there.p == pytest.approx(back.q[::-1], rel=1e-9, abs=1e-12)


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=1, max_size=5))
def test_a_finite_pair_knows_whether_it_is_symmetric(outcomes: list[tuple[float, float]]) -> None:
    p, q = (np.array([each[way] for each in outcomes]) + 1e-3 for way in (0, 1))
    both = FinitePair(
        tuple(np.append(p, q) / (p.sum() + q.sum())), tuple(np.append(q, p) / (p.sum() + q.sum()))
    )
    pair = both.pair()
    assert pair is not None
    assert pair.is_symmetric
    assert not LOPSIDED.pair().is_symmetric  # type: ignore[union-attr]


def test_reverses_and_samples_change_places() -> None:
    pair = RemovedUnit(NormalPair(1.0), 0.2)
    assert pair.reverse().reverse() == pair
    assert pair.subsample(0.5).reverse().reverse() == pair.subsample(0.5)


def test_laws_that_do_not_sum_to_one_are_refused() -> None:
    with pytest.raises(ParameterError, match="sum 1"):
        AtomicPair(np.array([0.1, -0.1]), np.array([0.5, 0.4999]), 1e-4)  # the second law would have 1.0049
    with pytest.raises(ParameterError, match="sum 1"):
        LossDistribution.from_atoms([0.0], [0.9], spacing=0.1)


# Two steps of a Poisson sample: away and back, not twice away.


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.2), (0.7, 0.01), (2.0, 0.9)])
def test_replaced_samples_against_the_mixture_itself(sigma: float, rate: float) -> None:
    """(1-q) N(0) + q N(1) against (1-q) N(0) + q N(-1): a real pair of neighbours, by its distribution function."""
    x = np.linspace(-12.0, 12.0, 200_001) * max(1.0, sigma)
    first = (1 - rate) * ndtr(x / sigma) + rate * ndtr((x - 1) / sigma)
    second = (1 - rate) * ndtr(x / sigma) + rate * ndtr((x + 1) / sigma)
    curve = to_replace(SubsampledGaussianCurve(sigma, rate))
    for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0):
        truth = float(np.max((1 - first) - math.exp(epsilon) * (1 - second)))
        assert curve.delta(epsilon) >= truth - 1e-9


# Findings P10 and P11: ordinary mixes have a finite epsilon, and divergences are added order by order.


@given(
    st.lists(
        st.tuples(st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.7, 0.95, 1.1]), st.integers(1, 9)), min_size=1
    ),
    st.floats(0.05, 1.0),
)
def test_no_mix_with_a_gaussian_is_infinite(pure: list[tuple[float, int]], mu: float) -> None:
    whole = compose([*(PureDP(epsilon).repeat(times) for epsilon, times in pure[:3]), GaussianDP(mu)])
    epsilon = whole.epsilon(1e-6)
    assert epsilon <= float(sum(e * n for e, n in pure[:3])) + GaussianDP(mu).epsilon(1e-6) + 1e-9


def test_a_mix_one_digit_off_the_grid() -> None:
    near = compose([PureDP(0.95 + 1e-9).repeat(5), GaussianDP(0.5)]).epsilon(1e-6)
    assert compose([PureDP(0.95).repeat(5), GaussianDP(0.5)]).epsilon(1e-6) == pytest.approx(near, rel=1e-4)


def test_divergences_add_up_order_by_order() -> None:
    assert compose([PureDP(6.0), ZCDP(4e-4)]).epsilon(1e-6) < 6.12


# Parameters beyond what doubles hold: refused, or never towards "private".

_HUGE = [1e-320, 1e-300, 1e-30, 1e8, 1e9, 1e10, 1e100, 1e200, 1e308, 10**400]
_MAKERS: dict[str, Callable[[float], PrivacyCurve]] = {
    "pure": PureDP,
    "zcdp": ZCDP,
    "gdp": GaussianDP,
    "laplace": LaplaceCurve,
    "mixed": lambda x: compose([PureDP(x), GaussianDP(1.0)]),
    "repeated": lambda x: LaplaceCurve(x).repeat(5),
    "beside": lambda x: compose([ZCDP(x), PureDP(1.0)]),
    "replaced": lambda x: to_replace(GaussianDP(x)),
}


@pytest.mark.parametrize("place", range(len(_HUGE)))
@pytest.mark.parametrize("kind", _MAKERS)
def test_no_parameter_overflows_towards_private(kind: str, place: int) -> None:
    size = _HUGE[place]
    try:
        curve = _MAKERS[kind](size)
    except ParameterError:
        assert size > 1e8
        return
    epsilon, deltas = curve.epsilon(1e-6), [curve.delta(0.0), curve.delta(5.0)]
    assert epsilon >= 0
    assert all(0 <= delta <= 1 for delta in deltas)
    if size >= 1e8:
        assert epsilon > 1e7
        assert min(deltas) > 0.9
