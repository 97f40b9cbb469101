"""Findings of many trainings: the error counts of one test, or guesses made one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.audit._bounds import multi_run, sequential
from holdfast.audit._bounds.signal import POWER_SEED, SIMULATIONS, Signal
from holdfast.audit._findings.finding import LEAST_ERROR, FromEpsilon, smallest_error
from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._tradeoff import TradeOff


def _credible_epsilon(errors: multi_run.ErrorRates, *, delta: float, confidence: float) -> float:
    return multi_run.bayesian_epsilon_lower(errors, delta=delta, credibility=confidence)


_BOUNDS_AND_TEXTS: dict[str, tuple[Callable[..., float], str]] = {
    "clopper-pearson": (multi_run.epsilon_lower, "Clopper-Pearson limits on both error rates"),
    "gaussian": (multi_run.gaussian_epsilon_lower, "Clopper-Pearson limits within the Gaussian family"),
    "bayesian": (_credible_epsilon, "Bayesian credible bound (Jeffreys priors), not a confidence bound"),
}


@checked
@dataclass(frozen=True, kw_only=True)
class Trainings:
    """Many trainings with and without one canary, and the errors of one test (`holdfast.audit.ManyRuns`).

    The two limits refute a claim's curve for every mechanism, whatever the `bound`.

    Parameters
    ----------
    errors : ErrorRates
        The counted errors.
    bound : {'clopper-pearson', 'gaussian', 'bayesian'}
        How an epsilon is read from them. Only "clopper-pearson" is a bound; "gaussian" and "bayesian" are estimates.

    Examples
    --------
    >>> from holdfast.audit import ErrorRates
    >>> errors = ErrorRates(false_alarms=0, without=1000, misses=0, with_canary=1000)
    >>> round(Trainings(errors=errors).epsilon_lower(delta=0.0, confidence=0.95), 2)
    5.6
    """

    kind: ClassVar[str] = "multi-run"
    group: ClassVar[int] = 1
    errors: multi_run.ErrorRates
    bound: Literal["clopper-pearson", "gaussian", "bayesian"] = "clopper-pearson"

    def __post_init__(self) -> None:
        require(
            self.bound in _BOUNDS_AND_TEXTS, "bound", self.bound, f"one of {', '.join(_BOUNDS_AND_TEXTS)}"
        )

    @property
    def canaries(self) -> int:
        """The number of coins, one for each training."""
        return self.errors.without + self.errors.with_canary

    @property
    def guesses(self) -> int:
        """The number of guesses, one for each training."""
        return self.canaries

    @property
    def correct(self) -> int:
        """The number of trainings without an error."""
        return self.canaries - self.errors.false_alarms - self.errors.misses

    @property
    def may_refute(self) -> bool:
        """Whether there is a valid test: credible bounds have none."""
        return self.bound != "bayesian"

    @property
    def is_bound(self) -> bool:
        """Whether the bound assumes nothing about the mechanism."""
        return self.bound == "clopper-pearson"

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound of the chosen kind, at this `delta` and with this `confidence`."""
        return _BOUNDS_AND_TEXTS[self.bound][0](self.errors, delta=delta, confidence=confidence)

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The smallest error at which the limits of both error rates contradict the curve of the `claim`.

        A credible bound has no test: there it is the posterior mass of (epsilon, `delta`).
        """
        if not self.may_refute:
            mass = multi_run.bayesian_mass(self.errors, epsilon=min(claim.epsilon(delta), 690.0), delta=delta)
            return min(1.0, max(mass, LEAST_ERROR))
        proved = claim.trade_off()
        return smallest_error(lambda error: multi_run.is_contradicted(proved, *self.errors.limits_at(error)))

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """With this `confidence` the best test is on or below this polygon, whatever the `delta`."""
        return multi_run.polygon(self.errors, confidence=confidence)

    def power(
        self, claim: PrivacyCurve, *, delta: float, beta: float, signal: Signal, runs: int = 0
    ) -> float:
        """Exact: both error counts are binomial, at the threshold that is best for this signal.

        Parameters
        ----------
        claim : PrivacyCurve
            The curve that is to be refuted.
        delta : float
            Not used: the whole curve is tested.
        beta : float
            The error at which it is to be refuted.
        signal : Signal
            How a canary shows in its score.
        runs : int
            Not used: the number of trainings is that of the counted errors.

        Returns
        -------
        float
            The probability.
        """
        return multi_run.contradiction_power(claim.trade_off(), self.errors, beta=beta, signal=signal)

    def method(self) -> str:
        """How the bound is computed, in words."""
        chosen = f", best of {self.errors.tried} thresholds" if self.errors.tried > 1 else ""
        return f"many runs, {_BOUNDS_AND_TEXTS[self.bound][1]}{chosen}"


@checked
@dataclass(frozen=True, kw_only=True)
class AnytimeGuesses(FromEpsilon):
    """Guesses in the order in which they were made, stopped at any time (`holdfast.audit.Sequential`).

    Parameters
    ----------
    right : str
        A text of 0 and 1, one for each guess: whether it was right.
    trainings : bool
        Whether each guess is about a training of its own; within one training delta must be 0.

    Examples
    --------
    >>> guesses = AnytimeGuesses(right="1" * 40)
    >>> guesses.epsilon_lower(delta=0.0, confidence=0.95) > 1.5
    True
    """

    kind: ClassVar[str] = "sequential"
    may_refute: ClassVar[bool] = True
    is_bound: ClassVar[bool] = True
    right: str
    trainings: bool = True

    def __post_init__(self) -> None:
        require(
            set(self.right) <= {"0", "1"} and bool(self.right), "right", "...", "a non-empty text of 0 and 1"
        )

    @property
    def canaries(self) -> int:
        """The number of coins, one for each guess."""
        return len(self.right)

    @property
    def guesses(self) -> int:
        """The number of guesses."""
        return len(self.right)

    @property
    def correct(self) -> int:
        """The number of guesses that are right."""
        return self.right.count("1")

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound at the best moment, at this `delta` and with this `confidence`."""
        self._check_delta(delta)
        bits = np.array([c == "1" for c in self.right])
        return sequential.path_epsilon_lower(bits, delta=delta, confidence=confidence)

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """One over the largest wealth of a gambler against the `claim`, read at this `delta`."""
        self._check_delta(delta)
        epsilon = claim.epsilon(delta)
        if not math.isfinite(epsilon):
            return 1.0
        bits = np.array([[c == "1" for c in self.right]])
        return min(1.0, math.exp(-float(_wealth(bits, epsilon, delta)[0])) * (1.0 + 1e-9))

    def power(
        self, claim: PrivacyCurve, *, delta: float, beta: float, signal: Signal, runs: int = 0
    ) -> float:
        """How often simulated guesses, at the middle between both worlds, make the gambler rich in time.

        Parameters
        ----------
        claim : PrivacyCurve
            The curve that is to be refuted.
        delta : float
            Where epsilon is read.
        beta : float
            The error at which it is to be refuted.
        signal : Signal
            How a canary shows in its score.
        runs : int
            The number of trainings planned; 0 for as many as there were guesses.

        Returns
        -------
        float
            The share of simulated sequences.
        """
        epsilon = claim.epsilon(delta)
        if not math.isfinite(epsilon):
            return 0.0
        wrong = float(signal.tails(0.5))
        bits = np.random.default_rng(POWER_SEED).random((SIMULATIONS, runs or len(self.right))) >= wrong
        return float(np.mean(_wealth(bits, epsilon, delta) >= -math.log(beta)))

    def _check_delta(self, delta: float) -> None:
        require(
            self.trainings or delta == 0.0,
            "delta",
            delta,
            "0 for guesses within one training",
            "use one training for each guess, or kind 'one-run'",
        )

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "sequential, valid at any stopping time (a bet against the claim)"


def _wealth(bits: np.ndarray[tuple[int, int], np.dtype[np.bool_]], epsilon: float, delta: float) -> Floats:
    """The largest log-wealth along each row of guesses."""
    times, right = np.arange(1, bits.shape[1] + 1), np.cumsum(bits, axis=1)
    return np.asarray(np.max(sequential.log_wealth(times, right, epsilon=epsilon, delta=delta), axis=1))
