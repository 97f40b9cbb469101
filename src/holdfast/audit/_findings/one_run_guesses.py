"""Findings of one training with many canaries: a count of right guesses, or the guesses one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from holdfast._arguments import checked
from holdfast.audit._bounds import fdp, guess_path, one_run
from holdfast.audit._bounds.fdp import RefutedCurve
from holdfast.audit._bounds.signal import Signal, simulated_guesses
from holdfast.audit._bounds.worst_case import upper_tail, worst_case
from holdfast.audit._findings.finding import FromEpsilon
from holdfast.errors import require
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._tradeoff import TradeOff


@checked
@dataclass(frozen=True, kw_only=True)
class CountedGuesses:
    """The number of canaries, how many of them were guessed about, and how many of these guesses were right."""

    group: ClassVar[int] = 1
    canaries: int
    guesses: int
    correct: int

    def __post_init__(self) -> None:
        require(
            0 <= self.guesses <= self.canaries, "guesses", self.guesses, f"in [0, canaries={self.canaries}]"
        )
        require(0 <= self.correct <= self.guesses, "correct", self.correct, f"in [0, guesses={self.guesses}]")

    def rejects(self, claim: PrivacyCurve, correct: int, *, delta: float, beta: float) -> bool:
        """Whether so many `correct` guesses refute the `claim`, read at this `delta`, at the error `beta`."""
        raise NotImplementedError

    def power(
        self, claim: PrivacyCurve, *, delta: float, beta: float, signal: Signal, runs: int = 0
    ) -> float:
        """How probably the least count that refutes is reached by simulated guesses.

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
            Not used: there is one training.

        Returns
        -------
        float
            The probability.
        """
        low, high = -1, self.guesses + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.rejects(claim, middle, delta=delta, beta=beta):
                high = middle
            else:
                low = middle
        if high > self.guesses:
            return 0.0
        right = simulated_guesses(self.canaries, self.guesses, signal).sum(axis=1)
        return float(np.mean(right >= high))


@checked
@dataclass(frozen=True, kw_only=True)
class FixedGuesses(CountedGuesses, FromEpsilon):
    """A number of guesses fixed in advance, of which some were right (`holdfast.audit.OneRun`).

    Parameters
    ----------
    canaries : int
        How many membership coins were flipped.
    guesses : int
        How many of them were guessed, fixed in advance.
    correct : int
        How many guesses were right.

    Examples
    --------
    >>> guesses = FixedGuesses(canaries=1000, guesses=100, correct=90)
    >>> round(guesses.epsilon_lower(delta=0.0, confidence=0.95), 4)
    1.6308
    """

    kind: ClassVar[str] = "one-run"
    may_refute: ClassVar[bool] = True
    is_bound: ClassVar[bool] = True

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The largest epsilon that the exact worst case refutes at this `delta` with this `confidence`."""
        return one_run.epsilon_lower(
            self.guesses, self.correct, canaries=self.canaries, delta=delta, confidence=confidence
        )

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The exact worst case under the epsilon of the `claim` at this `delta`."""
        return _worst_case_p_value(self.guesses, self.correct, self.canaries, claim.epsilon(delta), delta)

    def rejects(self, claim: PrivacyCurve, correct: int, *, delta: float, beta: float) -> bool:
        """Whether the exact worst case of so many `correct` guesses refutes the `claim` at the error `beta`."""
        return _worst_case_p_value(self.guesses, correct, self.canaries, claim.epsilon(delta), delta) <= beta

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "one run, number of guesses fixed in advance, exact worst case (Steinke et al. 2023)"


_RULE_TEXTS = {
    "exact": "the whole path of guesses calibrated exactly",
    "geometric": "a geometric grid of guess counts, error shared evenly",
    "uncorrected": "the uncorrected maximum over guess counts: NOT a valid bound",
}


@checked
@dataclass(frozen=True, kw_only=True)
class GuessPath(FromEpsilon):
    """Guesses in order, surest first, and the best look along them.

    Parameters
    ----------
    canaries : int
        How many membership coins were flipped.
    right : str
        A text of 0 and 1, one for each guess: whether it was right.
    rule : {'exact', 'geometric', 'uncorrected'}
        How the choice of the best look is paid for: "exact" calibrates the whole path, "geometric" shares the
        error evenly among a few looks, "uncorrected" does neither and is no valid bound.
    every : int
        The auditor looks after every so many guesses; fixed in advance.

    Examples
    --------
    >>> path = GuessPath(canaries=100, right="1" * 100)
    >>> path.epsilon_lower(delta=0.0, confidence=0.95) > 3.3
    True
    """

    kind: ClassVar[str] = "one-run-path"
    canaries: int
    right: str
    rule: Literal["exact", "geometric", "uncorrected"] = "exact"
    every: int = 1

    def __post_init__(self) -> None:
        require(
            set(self.right) <= {"0", "1"} and bool(self.right), "right", "...", "a non-empty text of 0 and 1"
        )
        require(
            len(self.right) <= self.canaries, "right", len(self.right), f"at most {self.canaries} guesses"
        )
        require(1 <= self.every <= len(self.right), "every", self.every, f"in [1, {len(self.right)}]")
        require(self.rule in _RULE_TEXTS, "rule", self.rule, f"one of {', '.join(_RULE_TEXTS)}")

    @property
    def guesses(self) -> int:
        """The number of guesses along the path."""
        return len(self.right)

    @property
    def correct(self) -> int:
        """The number of guesses that are right."""
        return self.right.count("1")

    @property
    def may_refute(self) -> bool:
        """Whether the rule is valid: the uncorrected maximum is not."""
        return self.rule != "uncorrected"

    is_bound = may_refute

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many guesses the auditor looks."""
        if self.rule == "geometric":
            return tuple(guess_path.geometric_looks(self.guesses).tolist())
        return tuple(range(self.every, self.guesses + 1, self.every))

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound by the rule of the path, at this `delta` and with this `confidence`."""
        bits, m = np.array([c == "1" for c in self.right]), self.canaries
        if self.rule == "geometric":
            return guess_path.geometric_epsilon_lower(bits, canaries=m, delta=delta, confidence=confidence)
        bound = guess_path.epsilon_lower if self.rule == "exact" else guess_path.uncorrected_maximum
        return bound(bits, canaries=m, delta=delta, confidence=confidence, looks=self.looks)

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The p-value by the rule of the path, under the epsilon of the `claim` at this `delta`."""
        bits, epsilon = np.array([c == "1" for c in self.right]), claim.epsilon(delta)
        if not np.isfinite(epsilon):
            return 1.0
        if self.rule == "exact":
            return guess_path.p_value(
                bits, canaries=self.canaries, epsilon=epsilon, delta=delta, looks=self.looks
            )
        counts = np.cumsum(bits)
        least = min(
            _worst_case_p_value(r, int(counts[r - 1]), self.canaries, epsilon, delta) for r in self.looks
        )
        return min(1.0, least * (len(self.looks) if self.rule == "geometric" else 1))

    def power(
        self, claim: PrivacyCurve, *, delta: float, beta: float, signal: Signal, runs: int = 0
    ) -> float:
        """How often the best look of simulated paths refutes.

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
            Not used: there is one training.

        Returns
        -------
        float
            The share of simulated paths.
        """
        epsilon, looks = claim.epsilon(delta), np.array(self.looks)
        left = beta - self.canaries * delta if self.rule == "exact" else beta
        if left <= 0.0 or not np.isfinite(epsilon):
            return 0.0
        right = np.cumsum(simulated_guesses(self.canaries, self.guesses, signal), axis=1)[:, looks - 1]
        if self.rule == "exact":
            smallest = np.min(upper_tail(looks[None, :], right, epsilon), axis=1)
            return float(np.mean(smallest <= _level(self.looks, epsilon, left)))
        share = left / looks.size if self.rule == "geometric" else left
        refuting = [
            [
                _worst_case_p_value(r, v, self.canaries, epsilon, delta) <= share
                for r, v in zip(self.looks, row, strict=True)
            ]
            for row in right.tolist()
        ]
        return float(np.mean(np.any(refuting, axis=1)))

    def method(self) -> str:
        """How the bound is computed, in words."""
        return f"one run, {_RULE_TEXTS[self.rule]}"


@checked
@dataclass(frozen=True, kw_only=True)
class GaussianGuesses(CountedGuesses):
    """A number of guesses fixed in advance, held against whole trade-off curves.

    The test of the claim's own curve holds for every mechanism. The epsilon does not: it is that of the largest refuted
    Gaussian curve, and a mechanism that leaks otherwise than a Gaussian one may have a smaller one.

    Parameters
    ----------
    canaries : int
        How many membership coins were flipped.
    guesses : int
        How many of them were guessed, fixed in advance.
    correct : int
        How many guesses were right.

    Examples
    --------
    >>> guesses = GaussianGuesses(canaries=1000, guesses=100, correct=95)
    >>> round(guesses.mu_lower(confidence=0.95), 3), round(guesses.epsilon_lower(delta=1e-6, confidence=0.95), 2)
    (0.787, 3.73)
    """

    kind: ClassVar[str] = "one-run-fdp"
    may_refute: ClassVar[bool] = True
    is_bound: ClassVar[bool] = False

    def mu_lower(self, *, confidence: float) -> float:
        """The mu of the largest Gaussian curve that is refuted with this `confidence`."""
        return fdp.mu_lower(self.guesses, self.correct, canaries=self.canaries, confidence=confidence)

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The epsilon at this `delta` of the largest Gaussian curve refuted with this `confidence`: an estimate."""
        return fdp.gaussian_epsilon(self.mu_lower(confidence=confidence), delta=delta)

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The curve of the `claim` itself is tested, whatever its family; `delta` plays no part."""
        return fdp.p_value(claim.trade_off(), self.guesses, self.correct, canaries=self.canaries)

    def rejects(self, claim: PrivacyCurve, correct: int, *, delta: float, beta: float) -> bool:
        """Whether so many `correct` guesses refute the curve of the `claim` at the error `beta`."""
        return fdp.rejects(_polygon_inverse(claim), self.guesses, correct, canaries=self.canaries, beta=beta)

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """The largest Gaussian curve refuted with this `confidence`, for every mechanism; `delta` plays no part."""
        return RefutedCurve.gaussian(self.mu_lower(confidence=confidence), confidence=confidence)

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "one run, whole trade-off curve, Gaussian family (Mahloujifar et al. 2024)"


def _worst_case_p_value(guesses: int, correct: int, canaries: int, epsilon: float, delta: float) -> float:
    """The worst case of any (epsilon, delta)-DP mechanism; 1 where epsilon is infinite."""
    if not np.isfinite(epsilon):
        return 1.0
    return worst_case(guesses, correct, canaries=canaries, epsilon=epsilon, delta=delta)


@lru_cache(maxsize=64)
def _level(looks: tuple[int, ...], epsilon: float, beta: float) -> float:
    return guess_path.level(looks, epsilon=epsilon, beta=beta)


@lru_cache(maxsize=8)
def _polygon_inverse(claim: PrivacyCurve) -> fdp.InverseCurve:
    return fdp.polygon_inverse(claim.trade_off())
