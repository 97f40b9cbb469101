"""Amplification by sampling, and guarantees carried from one neighbour relation to another.

A curve does not say for which relation it was proved. The caller must know; each function's name and docstring say
which relation it needs.
"""

from __future__ import annotations

from fractions import Fraction

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._curves.subsampled import amplified_pure
from holdfast.privacy._rounding import Number, as_written


def poisson_pure(curve: PureDP, *, rate: Number) -> PureDP:
    """A pure mechanism on a Poisson sample (Balle, Barthe and Gaboardi 2018, theorem 8); add_remove.

    >>> round(float(poisson_pure(PureDP(1.0), rate=0.01).as_pure()), 6)
    0.017037
    """
    require(0 < rate <= 1, "rate", rate, "in (0, 1]")
    return PureDP(amplified_pure(curve.as_pure(), rate))


def poisson_approximate(curve: ApproxDP, *, rate: Number) -> ApproxDP:
    """(epsilon, delta) on a Poisson sample: (log(1 + q (e^epsilon - 1)), q delta); add_remove."""
    require(0 < rate <= 1, "rate", rate, "in (0, 1]")
    epsilon, delta = curve.as_approximate()
    return ApproxDP(amplified_pure(epsilon, rate), delta * as_written(rate))


def without_replacement_pure(curve: PureDP, *, sample: int, population: int) -> PureDP:
    """`sample` of a public number of units, without replacement; base and result under replace."""
    return poisson_pure(curve, rate=_fraction(sample, population))


def without_replacement_approximate(curve: ApproxDP, *, sample: int, population: int) -> ApproxDP:
    """`sample` of a public number of units, without replacement; base and result under replace."""
    return poisson_approximate(curve, rate=_fraction(sample, population))


def _fraction(sample: int, population: int) -> Fraction:
    require(1 <= sample <= population, "sample", sample, f"between 1 and the population of {population}")
    return Fraction(sample, population)


@checked
def to_replace(curve: PrivacyCurve) -> PrivacyCurve:
    """A replace guarantee from an add_remove or zero_out one, by two steps (soundness, section 0).

    epsilon -> 2 epsilon, rho -> 4 rho, mu -> 2 mu, (epsilon, delta) -> (2 epsilon, (1 + e^epsilon) delta);
    Renyi bounds by the weak triangle inequality. Never by reusing the same noise.

    Parameters
    ----------
    curve : PrivacyCurve
        What is proved for a unit that is added, removed or zeroed.

    Returns
    -------
    PrivacyCurve
        What follows for a unit that is exchanged for another.

    Examples
    --------
    >>> to_replace(GaussianDP(0.5))
    GaussianDP(mu=1)
    """
    return curve.to_replace()


def pure_to_gaussian(curve: PureDP) -> GaussianDP:
    """epsilon-DP => mu-GDP with mu = 2 Phi^-1(e^eps / (1 + e^eps)); usually worse than rho = eps^2 / 2."""
    return GaussianDP.from_square(curve.as_gdp())


def gaussian_to_concentrated(curve: GaussianDP) -> ZCDP:
    """mu-GDP => rho = mu^2 / 2; the converse is false."""
    return ZCDP(curve.as_zcdp())


def pure_to_concentrated(curve: PureDP) -> ZCDP:
    """epsilon-DP => rho = epsilon^2 / 2, or epsilon^2 / 8 for a bounded range."""
    return ZCDP(curve.as_zcdp())
