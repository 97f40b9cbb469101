"""AuditResult: a lower bound on the leak with its confidence, and what it says about a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from holdfast._arguments import checked
from holdfast._stored_fields import require_fields
from holdfast.audit._bounds.one_run import error_of
from holdfast.audit._findings import (
    Finding,
    finding_from_json,
    finding_to_json,
    is_number,
    with_every_guess_right,
)
from holdfast.audit._power import Power, PowerBasis, power
from holdfast.errors import AdjacencyError, FormatError, ParameterError, require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._tradeoff import TradeOff
from holdfast.privacy._wording import confidence_text, least_text, point_text

Verdict = Literal["refuted", "consistent", "warning"]
Coins = Literal["holdfast", "foreign"]
Rows = Literal["public", "generated", "real"]
ROWS: dict[Rows, str] = {
    "public": "public rows only",
    "generated": "rows generated from public values only",
    "real": "real rows, or rows that nobody declared: internal, never on a public page",
}
"""What went into an audit besides planted records."""


@checked
@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found. A pass is no evidence of privacy; a refutation is evidence of a leak.

    Parameters
    ----------
    finding : Finding
        What was counted, which answers for its own bound and p-value: `FixedGuesses`, `GuessPath`, `GaussianGuesses`,
        `Trainings`, `AnytimeGuesses` or `Transcripts`.
    delta : float
        Where epsilon is bounded; fixed in advance, as part of the question.
    coins : {'holdfast', 'foreign'}
        Who flipped the membership coins: only where holdfast did can a claim be refuted, elsewhere it is a warning.
    corrected_over : int
        How many audits, scores or designs were tried; the error is shared among them.
    adjacency : Adjacency
        The neighbours that were compared.
    planted : str
        What the canaries were, in words; empty where no records were planted.
    scores : dict
        Figures that describe the scores of canaries that were in and out.
    rows : {'public', 'generated', 'real'}
        What went in besides planted records; with real rows every figure here is a function of private data.
    basis : PowerBasis, optional
        What the audit's power follows from.

    Examples
    --------
    >>> from holdfast.audit import FixedGuesses
    >>> from holdfast.privacy import PureDP
    >>> result = AuditResult(finding=FixedGuesses(canaries=1000, guesses=100, correct=90), coins="holdfast")
    >>> round(result.epsilon_lower(), 4)
    1.6308
    >>> result.verdict(PureDP(1.0)), result.verdict(PureDP(2.0))
    ('refuted', 'consistent')
    """

    finding: Finding
    delta: float = 0.0
    coins: Coins = "foreign"
    corrected_over: int = 1
    adjacency: Adjacency = Adjacency.add_remove
    planted: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    rows: Rows = "real"
    basis: PowerBasis | None = None

    def __post_init__(self) -> None:
        require(0 <= self.delta < 1, "delta", self.delta, "in [0, 1)")
        require(self.coins in ("holdfast", "foreign"), "coins", self.coins, "'holdfast' or 'foreign'")
        require(
            isinstance(self.corrected_over, int) and self.corrected_over >= 1,
            "corrected_over",
            self.corrected_over,
            "an integer >= 1",
        )
        require(self.rows in ROWS, "rows", self.rows, f"one of {', '.join(ROWS)}")
        require(all(is_number(v) for v in self.scores.values()), "scores", "...", "made of finite numbers")
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        object.__setattr__(self, "scores", dict(self.scores))

    @property
    def kind(self) -> str:
        """The design of the audit."""
        return self.finding.kind

    @property
    def m(self) -> int:
        """How many membership coins were flipped."""
        return self.finding.canaries

    @property
    def guesses(self) -> int:
        """How many coins were guessed."""
        return self.finding.guesses

    @property
    def correct(self) -> int:
        """How many guesses were right."""
        return self.finding.correct

    @property
    def valid(self) -> bool:
        """Whether the bound is a confidence bound whose assumptions were checked, the coins among them.

        Not the uncorrected maximum, a credible bound, an epsilon within the Gaussian family, or foreign coins.
        """
        return self.finding.is_bound and self.coins == "holdfast"

    def _shared_confidence(self, confidence: float) -> float:
        require(0 < confidence < 1, "confidence", confidence, "in (0, 1)")
        return 1.0 - (1.0 - confidence) / self.corrected_over if self.corrected_over > 1 else confidence

    def epsilon_lower(self, confidence: float = 0.95) -> float:
        """The epsilon at `delta` that the truth exceeds, with this `confidence`; 0 if nothing is shown.

        What is not `valid` shows nothing: its figure is `epsilon_estimate`.
        """
        return self.epsilon_estimate(confidence) if self.valid else 0.0

    def epsilon_estimate(self, confidence: float = 0.95) -> float:
        """The same figure at this `confidence`, also where its assumptions were not checked.

        It is then no bound, and may exceed the truth.
        """
        return self.finding.epsilon_lower(delta=self.delta, confidence=self._shared_confidence(confidence))

    def most_epsilon(self, confidence: float = 0.95) -> float | None:
        """The epsilon shown with this `confidence` if every guess had been right.

        An audit of this size can show no more.
        """
        return _most_epsilon(self.finding, self.delta, self._shared_confidence(confidence))

    def trade_off(self, confidence: float = 0.95) -> TradeOff:
        """The audited curve, which holds with this `confidence`; its `contradicts` knows what kind of curve it is."""
        audited = self.finding.trade_off(delta=self.delta, confidence=self._shared_confidence(confidence))
        return type(audited)(audited.false_alarm, audited.miss, claim="audited", confidence=confidence)

    def verdict(self, claim: Guarantee | PrivacyCurve, confidence: float = 0.95) -> Verdict:
        """`refuted`: the claim is false with this confidence. `warning`: it looks false, but the coins were
        not holdfast's or the bound is not a confidence bound. `consistent`: nothing was shown against it.
        """  # noqa: D205
        if self.p_value(claim) > error_of(confidence):
            return "consistent"
        return "refuted" if self.refutes_claims else "warning"

    @property
    def refutes_claims(self) -> bool:
        """Whether what it says against a claim is a refutation, not only a warning."""
        return self.coins == "holdfast" and self.finding.may_refute

    def p_value(self, claim: Guarantee | PrivacyCurve) -> float:
        """The smallest error at which the claim is contradicted, corrected for what was tried."""
        curve = self._comparable(claim)
        return min(1.0, self.corrected_over * self.finding.p_value(curve, delta=self.delta))

    def power(self, claim: Guarantee | PrivacyCurve | None = None, confidence: float = 0.95) -> Power | None:
        """What the audit would have noticed.

        Parameters
        ----------
        claim : Guarantee or PrivacyCurve, optional
            The claim; by default the one that the audit was made for.
        confidence : float
            Of a refutation.

        Returns
        -------
        Power or None
            The faults that would have been noticed; None where it is not known.
        """
        if self.basis is None:
            return None
        curve = self._for_group(self.basis.claim) if claim is None else self._comparable(claim)
        return power(
            self.finding, self.basis, curve, delta=self.delta, confidence=self._shared_confidence(confidence)
        )

    def _comparable(self, claim: Guarantee | PrivacyCurve) -> PrivacyCurve:
        if not isinstance(claim, Guarantee):
            return self._for_group(claim)
        if claim.adjacency != self.adjacency:
            raise AdjacencyError(
                f"the audit compared {self.adjacency.value!r} neighbours, the claim is about "
                f"{claim.adjacency.value!r} ones; plant canaries for the claim's adjacency"
            )
        return self._for_group(claim.curve)

    def _for_group(self, curve: PrivacyCurve) -> PrivacyCurve:
        return curve if self.finding.group == 1 else curve.group(self.finding.group)

    def plot_data(self) -> dict[str, list[float]]:
        """The bound against the confidence, and the audited curve at 95 %, ready to draw."""
        confidences = [0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999]
        curve = self.trade_off(0.95)
        return {
            "confidence": confidences,
            "epsilon_lower": [self.epsilon_lower(c) for c in confidences],
            "epsilon_estimate": [self.epsilon_estimate(c) for c in confidences],
            "false_alarm": curve.false_alarm.tolist(),
            "miss": curve.miss.tolist(),
        }

    def summary(
        self,
        claim: Guarantee | PrivacyCurve | None = None,
        *,
        confidence: float = 0.95,
        verdict: str | None = None,
    ) -> str:
        """A few lines that a statistician can read.

        Parameters
        ----------
        claim : Guarantee or PrivacyCurve, optional
            What the audit is held against.
        confidence : float
            Of the bound and the verdict.
        verdict : str, optional
            Stands in the place of the audit's own verdict about the claim, where it is one of several that share an
            error.

        Returns
        -------
        str
            The lines.
        """
        share = self.correct / self.guesses if self.guesses else 0.0
        label = "lower bound" if self.valid else "NOT A VALID BOUND, an estimate:"
        lines = [
            f"audit ({self.kind}): {self.correct} of {self.guesses} membership guesses right ({100 * share:.1f} %), "
            f"{self.m} {'counted runs' if self.kind == 'transcript' else 'coins'}",
            f"  {label} {point_text(least_text(self.epsilon_estimate(confidence)), self.delta)}, "
            f"confidence {confidence_text(confidence)} (adjacency {self.adjacency.value})",
            f"  method: {self.finding.method()}",
            f"  power: {self._power_text(claim, confidence)}",
        ]
        if self.corrected_over > 1:
            lines.append(f"  error shared among {self.corrected_over} audits tried")
        if self.planted:
            lines.append(f"  planted: {self.planted}")
            lines.append(f"  among: {ROWS[self.rows]}")
        if self.coins == "foreign":
            lines.append(
                "  the membership coins were not flipped by holdfast: a contradiction is only a warning"
            )
        if claim is not None:
            curve = claim.curve if isinstance(claim, Guarantee) else claim
            lines.append(
                f"  claim: {curve.point_words(self.delta)}: {verdict or self.verdict(claim, confidence)}"
            )
        lines.append("  a pass is no evidence of privacy: a better attack may find more")
        return "\n".join(lines)

    def _power_text(self, claim: Guarantee | PrivacyCurve | None, confidence: float) -> str:
        known = self.power(claim, confidence)
        return "not known, so this is not counted as a test" if known is None else known.summary()

    def to_json(self) -> dict[str, Any]:
        """The fields as plain values, which `from_json` reads."""
        return {
            "finding": finding_to_json(self.finding),
            "delta": self.delta,
            "coins": self.coins,
            "corrected_over": self.corrected_over,
            "adjacency": self.adjacency.value,
            "planted": self.planted,
            "scores": dict(self.scores),
            "rows": self.rows,
            "basis": None if self.basis is None else self.basis.to_json(),
        }

    @classmethod
    def from_json(cls, data: Any) -> AuditResult:
        """The result that `to_json` wrote as `data`; `FormatError` for anything else."""
        data = require_fields("audit", data, list(cls.__dataclass_fields__))
        try:
            basis = data["basis"]
            return cls(
                finding=finding_from_json(data["finding"]),
                delta=float(data["delta"]),
                coins=data["coins"],
                corrected_over=data["corrected_over"],
                adjacency=Adjacency(data["adjacency"]),
                planted=str(data["planted"]),
                scores=data["scores"],
                rows=data["rows"],
                basis=None if basis is None else PowerBasis.from_json(basis),
            )
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError("a stored audit lacks a field or has one of the wrong kind") from error


@lru_cache(maxsize=256)
def _most_epsilon(finding: Finding, delta: float, confidence: float) -> float | None:
    best = with_every_guess_right(finding)
    return None if best is None else best.epsilon_lower(delta=delta, confidence=confidence)


# The neighbours and the delta that an audit is about, taken from the claim.
def claimed_adjacency(claim: Guarantee | PrivacyCurve, requested: Adjacency | str | None) -> Adjacency:
    """The neighbours that canaries must be planted for; a bare curve does not say."""
    if isinstance(claim, Guarantee):
        if requested is not None and Adjacency.of(requested) is not claim.adjacency:
            raise ParameterError(
                f"adjacency={Adjacency.of(requested).value!r} contradicts the claim; leave it out"
            )
        return claim.adjacency
    if requested is None:
        raise ParameterError("adjacency must be given where the claim is a bare curve, got adjacency=None")
    return Adjacency.of(requested)


def claimed_delta(claim: Guarantee | PrivacyCurve, requested: float | None) -> float:
    """The delta at which epsilon is bounded: the one requested, or the claim's if it is an (epsilon, delta) pair."""
    if requested is not None:
        require(0 <= requested < 1, "delta", requested, "in [0, 1)")
        return requested
    curve = claim.curve if isinstance(claim, Guarantee) else claim
    point = curve.as_approximate()
    if point is None:
        raise ParameterError(
            "delta must be given for a claim that is a whole curve, got delta=None; try delta=1e-6"
        )
    return float(point[1])


def describe_scores(scores: ArrayLike, member: ArrayLike) -> dict[str, float]:
    """Quartiles of the scores of canaries that were in and out, and how well the scores rank them.

    >>> describe_scores([0.0, 1.0, 2.0, 3.0], [False, False, True, True])["auc"]
    1.0
    """
    score, included = np.asarray(scores, float), np.asarray(member, bool)
    require(
        score.ndim == 1 and score.shape == included.shape, "member", included.shape, "of the shape of scores"
    )
    parts: dict[str, float] = {}
    for name, group in (("in", score[included]), ("out", score[~included])):
        parts[f"{name}_count"] = float(group.size)
        if group.size:
            quarters = np.quantile(group, [0.25, 0.5, 0.75])
            parts |= {
                f"{name}_{q}": float(v) for q, v in zip(("q25", "median", "q75"), quarters, strict=True)
            }
    if 0 < int(included.sum()) < score.size:
        from scipy.stats import rankdata

        inside = int(included.sum())
        rank_sum = float(np.sum(rankdata(score)[included]))
        parts["auc"] = (rank_sum - inside * (inside + 1) / 2) / (inside * (score.size - inside))
    return {name: value for name, value in parts.items() if math.isfinite(value)}
