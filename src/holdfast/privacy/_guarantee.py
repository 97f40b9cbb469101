"""Guarantee: a privacy curve with its neighbours, unit and theorem, and what it means for people.

An attacker weighs two possibilities, with and without the data of one unit. Seeing the release multiplies their odds by
e^L, where L is the privacy loss of what they saw. Pure DP always bounds L. Any other curve bounds it except with a
small probability, which is stated with the bound (`Sureness`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from holdfast._arguments import checked
from holdfast._assumption import Assumption as Assumption
from holdfast._assumption import distinct
from holdfast._stored_fields import require_fields
from holdfast.errors import AdjacencyError, FormatError, require
from holdfast.noise._source import Provenance
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._curves.stored import curve_from_json
from holdfast.privacy._wording import odds_text, up_to

_LOSS_TAIL_POINTS = 240


@checked
@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is promised (curve), between which neighbours (adjacency), for whom (unit), and why (theorem).

    Parameters
    ----------
    curve : PrivacyCurve
        The promise: delta as a function of epsilon.
    adjacency : Adjacency
        Which tables are neighbours.
    unit : PrivacyUnit
        Who is protected: a row, or all rows of a person.
    theorem : str
        Why it holds, with the reference.
    assumptions : tuple of Assumption
        What it rests on besides the theorem.
    noise : {'secure', 'seeded'}
        Whether it is a promise at all: noise from a seed can be computed again and protects nobody. The mark travels
        with the guarantee, through composition, files and texts.
    read_at : float, optional
        The delta at which an epsilon was asked for, if one was: summaries begin with it, the curve holds at all.

    Examples
    --------
    >>> from holdfast.privacy import GaussianDP
    >>> promise = Guarantee(
    ...     curve=GaussianDP(0.5), adjacency=Adjacency.replace, unit=PrivacyUnit(), theorem="Gaussian mechanism"
    ... )
    >>> round(promise.epsilon(1e-6), 3), promise.private
    (2.254, True)
    """

    curve: PrivacyCurve
    adjacency: Adjacency
    unit: PrivacyUnit
    theorem: str
    assumptions: tuple[Assumption, ...] = ()
    noise: Provenance = "secure"
    read_at: float | None = None
    """The delta at which an epsilon was asked for, if one was: summaries begin with it, the curve holds at all."""

    def __post_init__(self) -> None:
        read_at = self.read_at
        require(read_at is None or 0 <= read_at < 1, "read_at", read_at, "a delta in [0, 1), or None")
        require(self.noise in get_args(Provenance), "noise", self.noise, "'secure' or 'seeded'")
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    @property
    def private(self) -> bool:
        """Whether the noise can protect anybody."""
        return self.noise == "secure"

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved at this delta."""
        return self.curve.epsilon(delta)

    def assuming(self, *assumptions: Assumption) -> Guarantee:
        """The same promise, resting on these `assumptions` as well; one that it rests on already is not repeated."""
        return replace(self, assumptions=distinct((*self.assumptions, *assumptions)))

    def drawn_from(self, noise: Provenance) -> Guarantee:
        """The same promise, of which some noise came from there: once seeded, always seeded."""
        return self if noise == "secure" else replace(self, noise=noise)

    def compose(self, other: Guarantee) -> Guarantee:
        """Both releases together, if the `other` guarantee speaks of the same neighbours and units."""
        if (self.adjacency, self.unit) != (other.adjacency, other.unit):
            raise AdjacencyError(
                f"a guarantee for {self.adjacency.value!r} of {self.unit.summary()} cannot be composed with one "
                f"for {other.adjacency.value!r} of {other.unit.summary()}; re-derive one of them"
            )
        own_curve, other_curve = self.curve, other.curve
        if self.adjacency is Adjacency.replace:  # neighbours without a direction (soundness, section 21)
            own_curve, other_curve = own_curve.either_way(), other_curve.either_way()
        return (
            Guarantee(
                curve=own_curve.compose(other_curve),
                adjacency=self.adjacency,
                unit=self.unit,
                theorem=self.theorem if self.theorem == other.theorem else f"{self.theorem}; {other.theorem}",
                assumptions=self.assumptions,
                noise=self.noise,
                read_at=_larger_delta(self.read_at, other.read_at),
            )
            .assuming(*other.assumptions)
            .drawn_from(other.noise)
        )

    def summary(self) -> str:
        """A few lines that a statistician can read."""
        first = [] if self.private else ["NOT PRIVATE: drawn from a seed; with secure noise it would satisfy"]
        lines = [
            *first,
            self.headline(),
            *(f"  assumes: {assumption.text}" for assumption in self.assumptions),
            "  " + ", ".join(self.curve.point_words(delta) for delta in (1e-5, 1e-6, 1e-9)),
            f"  {Sureness.of(self.curve).words(self.unit.summary())}",
            f"  {guess_words(guess_bound(self.curve))}",
            f"  proof: {self.theorem}",
        ]
        return "\n".join(lines)

    def headline(self) -> str:
        """The promise in one line: the epsilon that was asked for, if one was, between which neighbours, and for whom.

        >>> from holdfast.privacy import GaussianDP
        >>> promise = Guarantee(
        ...     curve=GaussianDP(0.5), adjacency=Adjacency.replace, unit=PrivacyUnit(), theorem="...", read_at=1e-6
        ... )
        >>> promise.headline()
        'epsilon 2.255 at delta 1e-06 for changing the data of one row (adjacency replace), from GaussianDP(mu=0.5)'
        """
        neighbours = {
            Adjacency.replace: "changing the data of",
            Adjacency.zero_out: "blanking the data of",
            Adjacency.add_remove: "adding or removing",
        }[self.adjacency]
        promise, name = self.curve.words(self.read_at), repr(self.curve)
        promise_text = f"{promise} for {neighbours} {self.unit.summary()} (adjacency {self.adjacency.value})"
        return promise_text if promise == name else f"{promise_text}, from {name}"

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> dict[str, Any]:
        """The fields as plain data, for JSON."""
        return {
            "curve": self.curve.to_json(),
            "adjacency": self.adjacency.value,
            "unit": {"column": self.unit.column, "max_rows": self.unit.max_rows},
            "theorem": self.theorem,
            "assumptions": [assumption.to_json() for assumption in self.assumptions],
            "noise": self.noise,
            "read_at": self.read_at,
        }

    @classmethod
    def from_json(cls, data: Any) -> Guarantee:
        """The guarantee whose `to_json` wrote this `data`; `FormatError` for anything else."""
        names = ("curve", "adjacency", "unit", "theorem", "assumptions", "noise", "read_at")
        data = require_fields("guarantee", data, names)
        try:
            unit = require_fields("unit", data["unit"], ("column", "max_rows"))
            return cls(
                curve=curve_from_json(data["curve"]),
                adjacency=Adjacency(data["adjacency"]),
                unit=PrivacyUnit(unit["column"], unit["max_rows"]),
                theorem=str(data["theorem"]),
                assumptions=tuple(Assumption.from_json(stored) for stored in data["assumptions"]),
                noise=data["noise"],
                read_at=data["read_at"],
            )
        except FormatError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError("a stored guarantee lacks a field or has one of the wrong kind") from error


def _larger_delta(first: float | None, second: float | None) -> float | None:
    """The larger of two deltas at which epsilons were asked for; at this one both are known."""
    return max((delta for delta in (first, second) if delta is not None), default=None)


@checked
@dataclass(frozen=True, kw_only=True)
class Sureness:
    """How much surer an attacker can become: odds grow by at most e^`loss`, except with probability `failure`.

    Both hold with the unit's data and without.

    Parameters
    ----------
    loss : float
        The largest growth of the log odds, but for the exception.
    failure : float
        The probability of the exception; 0 where there is none.

    Examples
    --------
    >>> from holdfast.privacy import PureDP
    >>> bound = Sureness.of(PureDP(1.0))
    >>> bound.failure, round(bound.after(0.5), 3)
    (0.0, 0.732)
    """

    loss: float
    failure: float

    @classmethod
    def of(cls, curve: PrivacyCurve, *, failure: float | None = None) -> Sureness:
        """The bound that a `curve` gives: without exception where it is pure, else with one of probability `failure`.

        Parameters
        ----------
        curve : PrivacyCurve
            What is promised.
        failure : float, optional
            The probability of an exception; by default one in a million, or the next power of ten that is well above
            what the curve may fail with.

        Returns
        -------
        Sureness
            The bound that the curve proves.
        """
        require(failure is None or 0 < failure < 1, "failure", failure, "in (0, 1)")
        if curve.as_pure() is not None and not curve.has_slack:
            return cls(loss=curve.epsilon(0.0), failure=0.0)
        chosen = usual_failure(curve) if failure is None else failure
        return cls(loss=loss_tail(curve, chosen), failure=chosen)

    def words(self, unit: str) -> str:
        """The bound for whoever was in doubt about a `unit`, as every summary says it."""
        return sure_words(self.after(0.5), self.failure, unit)

    def after(self, prior: float) -> float:
        """How sure at most, of whoever was sure with probability `prior`; rounded up to a tenth of a per cent."""
        require(0 < prior < 1, "prior", prior, "in (0, 1)")
        if math.isinf(self.loss):
            return 1.0
        odds = math.log(prior / (1 - prior)) + self.loss
        ratio = math.exp(-abs(odds))  # never too large for a double
        sure = 1.0 / (1.0 + ratio) if odds >= 0 else ratio / (1.0 + ratio)
        return min(1.0, math.ceil(1000.0 * sure - 1e-9) / 1000.0)


def usual_failure(curve: PrivacyCurve) -> float:
    """One in a million, or the first power of ten of which less than half is outright failure of the curve.

    >>> from holdfast.privacy import ApproxDP, GaussianDP
    >>> usual_failure(GaussianDP(1.0)), usual_failure(ApproxDP(1.0, 1e-6))
    (1e-06, 1e-05)
    """
    powers = [float(f"1e{place}") for place in range(-6, 0)]
    return next((power for power in powers if math.isfinite(curve.epsilon(power / 2))), powers[-1])


def loss_tail(curve: PrivacyCurve, failure: float) -> float:
    """The least l for which |L| > l is proved to have probability at most `failure`, with the unit's data and without.

    From delta(e) = E[(1 - e^(e-L))+] follows P[L > l] <= delta(e) / (1 - e^(e-l)) for every e < l; in the same
    case -L > l has probability at most e^-l times as much. Both together are at most `failure` where
    e^-l <= (failure - delta(e)) / (delta(e) + failure e^e). Each e gives a valid l; the best of many is taken.
    """
    first = curve.epsilon(failure)
    if math.isinf(first):
        return math.inf
    last = curve.epsilon(failure * 1e-6)
    last = first + 10.0 if math.isinf(last) else last
    epsilons = np.unique(np.concatenate([np.linspace(first, max(last, first), _LOSS_TAIL_POINTS), [last]]))
    best = math.inf
    for epsilon, delta in zip(epsilons.tolist(), curve.deltas(epsilons).tolist(), strict=True):
        if delta < failure and epsilon < 600:
            room = (failure - delta) / (delta + failure * math.exp(epsilon))
            best = min(best, -math.log(room) * (1 + 1e-12))
    return best


def sure_words(half: float, failure: float, unit: str) -> str:
    """How sure somebody who was in doubt can become, as every summary and page states it.

    >>> sure_words(0.732, 0.0, "one row")
    'by the most telling result: whoever was 50 % sure about one row becomes at most 73.2 % sure, always'
    """
    first = f"by the most telling result: whoever was 50 % sure about {unit}"
    if half >= 1:
        return f"{first} is not kept from becoming certain"
    when = f"except {odds_text(failure)}" if failure else "always"
    return f"{first} becomes at most {100 * half:.1f} % sure, {when}"


def guess_bound(curve: PrivacyCurve) -> float:
    """How often the best attacker with a fair coin as prior guesses right, at most; rounded up."""
    return up_to(curve.trade_off().guess())


def guess_words(guess: float) -> str:
    """The guess bound as every summary and page states it.

    >>> guess_words(0.548)
    'on average over all results: whoever was 50 % sure guesses right at most 54.8 % of the time'
    """
    return f"on average over all results: whoever was 50 % sure guesses right at most {100 * guess:.1f} % of the time"
