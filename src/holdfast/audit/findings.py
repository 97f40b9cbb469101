"""What an audit saw, one small class for each design: each answers for its own bound.

A finding keeps the sufficient statistic, not a bound, so that a reader can ask for any confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from holdfast.audit.bounds import fdp, guess_path, multi_run, one_run, sequential
from holdfast.audit.bounds.fdp import RefutedCurve
from holdfast.errors import FormatError, require
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.tradeoff import TradeOff


class Finding(Protocol):
    """The sufficient statistic of an audit."""

    kind: ClassVar[str]

    @property
    def canaries(self) -> int:
        """How many membership coins were flipped."""

    @property
    def guesses(self) -> int:
        """How many of them were guessed."""

    @property
    def correct(self) -> int:
        """How many guesses were right."""

    @property
    def entitled(self) -> bool:
        """Whether the bound is a confidence bound, so that it may refute a claim."""

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound at this delta."""

    def refutes(self, claim: PrivacyCurve, *, delta: float, confidence: float) -> bool:
        """Whether the claim is refuted at this confidence."""

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """What is shown about the trade-off curve."""

    def method(self) -> str:
        """How the bound is computed, in words."""


class _FromEpsilon:
    """Findings that speak through one epsilon at one delta."""

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        raise NotImplementedError

    def refutes(self, claim: PrivacyCurve, *, delta: float, confidence: float) -> bool:
        """A claim of (epsilon, delta) with epsilon below the bound is refuted."""
        return self.epsilon_lower(delta=delta, confidence=confidence) > claim.epsilon(delta)

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """The curve of the largest refuted (epsilon, delta)."""
        bound = self.epsilon_lower(delta=delta, confidence=confidence)
        return RefutedCurve.approximate(bound, delta, confidence=confidence)


@dataclass(frozen=True, kw_only=True)
class _CountedGuesses:
    """So many canaries, of which so many were guessed, so many of these rightly."""

    canaries: int
    guesses: int
    correct: int

    def __post_init__(self) -> None:
        require(
            0 <= self.guesses <= self.canaries, "guesses", self.guesses, f"in [0, canaries={self.canaries}]"
        )
        require(0 <= self.correct <= self.guesses, "correct", self.correct, f"in [0, guesses={self.guesses}]")


@dataclass(frozen=True, kw_only=True)
class FixedGuesses(_CountedGuesses, _FromEpsilon):
    """A number of guesses fixed in advance (`one_run`)."""

    kind: ClassVar[str] = "one-run"
    entitled: ClassVar[bool] = True

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """By the exact worst case."""
        return one_run.epsilon_lower(
            self.guesses, self.correct, canaries=self.canaries, delta=delta, confidence=confidence
        )

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "one run, number of guesses fixed in advance, exact worst case (Steinke et al. 2023)"


_RULES = {
    "exact": "the whole path of guesses calibrated exactly",
    "geometric": "a geometric grid of guess counts, error shared evenly",
    "uncorrected": "the uncorrected maximum over guess counts: NOT a valid bound",
}


@dataclass(frozen=True, kw_only=True)
class GuessPath(_FromEpsilon):
    """Guesses in order, surest first, and the best look along them (`guess_path`); `right` is a text of 0 and 1."""

    kind: ClassVar[str] = "one-run-path"
    canaries: int
    right: str
    rule: Literal["exact", "geometric", "uncorrected"] = "exact"
    every: int = 1
    """The auditor looks after every so many guesses; fixed in advance."""

    def __post_init__(self) -> None:
        require(
            set(self.right) <= {"0", "1"} and bool(self.right), "right", "...", "a non-empty text of 0 and 1"
        )
        require(
            len(self.right) <= self.canaries, "right", len(self.right), f"at most {self.canaries} guesses"
        )
        require(1 <= self.every <= len(self.right), "every", self.every, f"in [1, {len(self.right)}]")
        require(self.rule in _RULES, "rule", self.rule, f"one of {', '.join(_RULES)}")

    @property
    def guesses(self) -> int:
        """All guesses along the path."""
        return len(self.right)

    @property
    def correct(self) -> int:
        """All right ones."""
        return self.right.count("1")

    @property
    def entitled(self) -> bool:
        """Not for the uncorrected maximum."""
        return self.rule != "uncorrected"

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound by the rule of the path."""
        bits, m = np.array([c == "1" for c in self.right]), self.canaries
        if self.rule == "geometric":
            return guess_path.geometric_epsilon_lower(bits, canaries=m, delta=delta, confidence=confidence)
        bound = guess_path.epsilon_lower if self.rule == "exact" else guess_path.uncorrected_maximum
        looks = np.arange(self.every, bits.size + 1, self.every)
        return bound(bits, canaries=m, delta=delta, confidence=confidence, looks=looks)

    def method(self) -> str:
        """How the bound is computed, in words."""
        return f"one run, {_RULES[self.rule]}"


@dataclass(frozen=True, kw_only=True)
class GaussianGuesses(_CountedGuesses):
    """A number of guesses fixed in advance, against whole trade-off curves (`fdp`)."""

    kind: ClassVar[str] = "one-run-fdp"
    entitled: ClassVar[bool] = True

    def mu_lower(self, *, confidence: float) -> float:
        """The largest refuted Gaussian curve."""
        return fdp.mu_lower(self.guesses, self.correct, canaries=self.canaries, confidence=confidence)

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The epsilon of that curve."""
        return fdp.gaussian_epsilon(self.mu_lower(confidence=confidence), delta=delta)

    def refutes(self, claim: PrivacyCurve, *, delta: float, confidence: float) -> bool:
        """The claim's own curve is tested, whatever its family."""
        inverse, beta = fdp.polygon_inverse(claim.trade_off()), one_run.error_of(confidence)
        return fdp.rejects(inverse, self.guesses, self.correct, canaries=self.canaries, beta=beta)

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """The largest refuted Gaussian curve."""
        return RefutedCurve.gaussian(self.mu_lower(confidence=confidence), confidence=confidence)

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "one run, whole trade-off curve, Gaussian family (Mahloujifar et al. 2024)"


def _bayesian(errors: multi_run.ErrorRates, *, delta: float, confidence: float) -> float:
    return multi_run.bayesian_epsilon_lower(errors, delta=delta, credibility=confidence)


_BOUNDS: dict[str, tuple[Callable[..., float], str]] = {
    "clopper-pearson": (multi_run.epsilon_lower, "Clopper-Pearson limits on both error rates"),
    "gaussian": (multi_run.gaussian_epsilon_lower, "Clopper-Pearson limits within the Gaussian family"),
    "bayesian": (_bayesian, "Bayesian credible bound (Jeffreys priors), not a confidence bound"),
}


@dataclass(frozen=True, kw_only=True)
class Trainings:
    """Many trainings with and without one canary, and the errors of one test (`multi_run`)."""

    kind: ClassVar[str] = "multi-run"
    errors: multi_run.ErrorRates
    bound: Literal["clopper-pearson", "gaussian", "bayesian"] = "clopper-pearson"

    def __post_init__(self) -> None:
        require(self.bound in _BOUNDS, "bound", self.bound, f"one of {', '.join(_BOUNDS)}")

    @property
    def canaries(self) -> int:
        """One coin for each training."""
        return self.errors.without + self.errors.with_canary

    @property
    def guesses(self) -> int:
        """Every training is guessed."""
        return self.canaries

    @property
    def correct(self) -> int:
        """Trainings without an error."""
        return self.canaries - self.errors.false_alarms - self.errors.misses

    @property
    def entitled(self) -> bool:
        """Not for credible bounds."""
        return self.bound != "bayesian"

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound of the chosen kind."""
        return _BOUNDS[self.bound][0](self.errors, delta=delta, confidence=confidence)

    def refutes(self, claim: PrivacyCurve, *, delta: float, confidence: float) -> bool:
        """The two limits are a point that the best test is below; the claim's curve must be too."""
        if not self.entitled:
            return self.epsilon_lower(delta=delta, confidence=confidence) > claim.epsilon(delta)
        return self.trade_off(delta=delta, confidence=confidence).contradicts(claim.trade_off())

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """With this confidence the best test is on or below this polygon, at every false-alarm rate."""
        false_alarm, miss = self.errors.limits(confidence)
        if false_alarm + miss >= 1.0:
            return TradeOff([0.0, 1.0], [1.0, 0.0], claim="audited", confidence=confidence)
        return TradeOff([0.0, false_alarm, 1.0], [1.0, miss, 0.0], claim="audited", confidence=confidence)

    def method(self) -> str:
        """How the bound is computed, in words."""
        chosen = f", best of {self.errors.tried} thresholds" if self.errors.tried > 1 else ""
        return f"many runs, {_BOUNDS[self.bound][1]}{chosen}"


@dataclass(frozen=True, kw_only=True)
class AnytimeGuesses(_FromEpsilon):
    """Guesses in the order in which they were made, stopped at any time (`sequential`)."""

    kind: ClassVar[str] = "sequential"
    entitled: ClassVar[bool] = True
    right: str
    trainings: bool = True
    """Whether each guess is about a training of its own; within one training delta must be 0."""

    def __post_init__(self) -> None:
        require(
            set(self.right) <= {"0", "1"} and bool(self.right), "right", "...", "a non-empty text of 0 and 1"
        )

    @property
    def canaries(self) -> int:
        """One coin for each guess."""
        return len(self.right)

    @property
    def guesses(self) -> int:
        """All of them."""
        return len(self.right)

    @property
    def correct(self) -> int:
        """The right ones."""
        return self.right.count("1")

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The bound at the best moment."""
        require(
            self.trainings or delta == 0.0, "delta", delta, "0 for guesses within one training",
            "use one training for each guess, or kind 'one-run'",
        )  # fmt: skip
        bits = np.array([c == "1" for c in self.right])
        return sequential.path_epsilon_lower(bits, delta=delta, confidence=confidence)

    def method(self) -> str:
        """How the bound is computed, in words."""
        return "sequential, valid at any stopping time (a bet against the claim)"


FINDINGS: tuple[type[Any], ...] = (FixedGuesses, GuessPath, GaussianGuesses, Trainings, AnytimeGuesses)


def bits_as_text(correct: Any) -> str:
    """Right and wrong guesses as a text of 1 and 0.

    >>> bits_as_text([True, False])
    '10'
    """
    return "".join("1" if bit else "0" for bit in np.asarray(correct, bool))


def finding_to_json(finding: Any) -> dict[str, Any]:
    """Plain data."""
    return {"kind": finding.kind, **asdict(finding)}


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `finding_to_json` wrote; `FormatError` for anything else."""
    try:
        fields = dict(data)
        kind = fields.pop("kind")
        (home,) = (f for f in FINDINGS if f.kind == kind)
        if "errors" in fields:
            fields["errors"] = multi_run.ErrorRates(**fields["errors"])
        found: Finding = home(**fields)
    except (TypeError, ValueError, KeyError) as error:
        raise FormatError("a stored audit lacks a field or has one of the wrong kind") from error
    return found


def is_number(value: object) -> bool:
    """Whether a summary value can be stored."""
    return isinstance(value, int | float) and math.isfinite(value)


Sequence = AnytimeGuesses
"""A former name, which the room still exports."""
