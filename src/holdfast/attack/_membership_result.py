"""MembershipResult: the scores of one membership attack, and everything that follows from them.

From the scores follow rates with exact limits, the measured trade-off curve, the audited curve where runs were
independent, and the verdict on a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import checked
from holdfast._arrays import Floats
from holdfast.attack._proof import REASONS, Game, Proof, Verdict, proved_curve
from holdfast.attack._report import NOTICE, SHOWN_RATES, AttackReport, AttackResult
from holdfast.attack._roc import Rate, ThresholdCounts, area, reached_points, roc, thinned_roc
from holdfast.errors import require
from holdfast.privacy._adjacency import Adjacency
from holdfast.privacy._tradeoff import TradeOff
from holdfast.privacy._wording import rate_text

CHECKED_RATES = (0.001, 0.01, 0.1, 0.5)
"""False-alarm rates at which a result is held against a proof, in both directions; fixed in advance."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class MembershipResult(AttackResult):
    """Scores of members and of non-members, larger where the attack believes in membership.

    A result is a function of private data: it is for the owner of the data only.

    Parameters
    ----------
    attack : str
        Its name.
    member_scores, non_member_scores : array
        One number for each record of either group.
    game : str
        Who decided on membership: "given", the data's owner, or "flipped", secret coins of holdfast
        (`holdfast.audit.membership_game`, `shadow_release`).
    adjacency : Adjacency
        The neighbours that are told apart.
    tried : int
        How many attacks were tried in all; the error is shared among them.
    proved : TradeOff, optional
        What the proof allows.
    audited : TradeOff, optional
        The audited curve, corrected over all attacks; only where holdfast flipped the coins.
    audited_at : callable, optional
        The audited curve at any confidence, where the scores can be asked again.
    confidence : float
        Of all limits.
    seconds : float
        How long it took.
    member_rows : array, optional
        Which rows of the owner's data the members are; without it, they are counted from 0.

    Examples
    --------
    >>> result = MembershipResult(attack="loss", member_scores=[3.0, 2.0, 0.5], non_member_scores=[1.0, 0.2, 0.1])
    >>> round(result.auc, 3), result.audience, result.verdict()
    (0.889, 'internal', 'unclaimed')
    >>> result.tpr_at(0.01).summary()
    '0.667 [0.094, 0.992]'
    """

    member_scores: Floats
    non_member_scores: Floats
    game: Game = "given"
    adjacency: Adjacency = Adjacency.replace
    tried: int = 1
    proved: TradeOff | None = None
    audited: TradeOff | None = None
    audited_at: Callable[[float], TradeOff] | None = None
    member_rows: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name in ("member_scores", "non_member_scores"):
            scores = np.array(getattr(self, name), dtype=np.float64)
            require(scores.ndim == 1 and scores.size >= 1, name, scores.shape, "a list of one number or more")
            require(bool(np.all(np.isfinite(scores))), name, "...", "finite")
            scores.flags.writeable = False
            object.__setattr__(self, name, scores)
        if self.member_rows is not None:
            rows = np.asarray(self.member_rows, dtype=np.int64)
            require(rows.shape == self.member_scores.shape, "member_rows", rows.shape, "one per member")
            object.__setattr__(self, "member_rows", rows)
        require(self.game in ("given", "flipped"), "game", self.game, "'given' or 'flipped'")
        require(self.tried >= 1, "tried", self.tried, ">= 1")
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")
        for name, claim in (("proved", "proved"), ("audited", "audited")):
            curve = getattr(self, name)
            require(
                curve is None or curve.claim == claim,
                name,
                None if curve is None else curve.claim,
                f"{claim!r}",
            )
        require(
            self.audited is None or self.game == "flipped",
            "audited",
            "...",
            "None where the coins were not holdfast's",
        )

    @property
    def scores(self) -> Floats:
        """Members first, then non-members."""
        return np.concatenate([self.member_scores, self.non_member_scores])

    @property
    def labels(self) -> NDArray[np.bool_]:
        """Whether each of `scores` belongs to a member."""
        return np.arange(self.member_scores.size + self.non_member_scores.size) < self.member_scores.size

    @property
    def auc(self) -> float:
        """The area under the ROC: how often a member scores above a non-member."""
        return area(self.member_scores, self.non_member_scores)

    @property
    def advantage(self) -> float:
        """Detection minus false alarms at the best threshold, chosen with hindsight: too large by chance alone."""
        return self.trade_off().advantage()

    def tpr_at(self, false_alarm: float) -> Rate:
        """The share of members found, with Clopper-Pearson limits.

        Parameters
        ----------
        false_alarm : float
            At most this share of false alarms.
        """
        look = ThresholdCounts.at(self.member_scores, self.non_member_scores, false_alarm=false_alarm)
        return Rate.of(look.hits, look.members, confidence=self.confidence)

    def roc(self) -> tuple[Floats, Floats]:
        """False-alarm rates and detection rates at every threshold."""
        return roc(self.member_scores, self.non_member_scores)

    def trade_off(self) -> TradeOff:
        """The measured curve: this attack got here, on this model and these records."""
        false_alarm, detection = self.roc()
        return TradeOff(false_alarm, 1.0 - detection, claim="measured")

    def above(self, proved: TradeOff) -> bool:
        """Whether the detection at some rate of `CHECKED_RATES` is above the proof, by limits that share the error.

        For records drawn independently, given the model, from one law for members and one for non-members.

        Parameters
        ----------
        proved : TradeOff
            What the proof allows.
        """
        return self._above(proved, 1.0 - self.confidence)

    def _above(self, proved: TradeOff, error: float) -> bool:
        return any(
            missed < proved.miss_at(false_alarm) - 1e-9
            for false_alarm, missed in limits(
                self.member_scores, self.non_member_scores, confidence=1.0 - error, tried=self.tried
            )
        )

    def verdict(self, claim: Proof | None = None, /) -> Verdict:
        """What the attack says about a claim, by default the model's own proof.

        `refuted`: it is false, shown with coins that holdfast flipped. `warning`: the scores look better than the
        proof allows, but members and non-members may simply differ. `consistent`: nothing is shown against it.
        `unclaimed`: there is no proof.
        """
        proved = self.proved if claim is None else proved_curve(claim, self.adjacency)
        if proved is None:
            return "unclaimed"
        if self.audited is not None and self.audited.contradicts(proved):
            return "refuted"
        return "warning" if self.above(proved) else "consistent"

    def p_value(self, claim: Proof | None = None) -> float:
        """The smallest error, shared among the attacks tried, at which the verdict is no longer `consistent`.

        Of a refutation, where the audited curve refutes; else of a warning. 1 without a proof.

        Parameters
        ----------
        claim : Guarantee, PrivacyCurve or TradeOff, optional
            By default the model's own proof.
        """
        proved = self.proved if claim is None else proved_curve(claim, self.adjacency)
        if proved is None:
            return 1.0
        if self.audited is not None and self.audited.contradicts(proved):
            again = self.audited_at
            if again is None:
                return 1.0 - self.confidence
            return _smallest_error(
                lambda error: again(1.0 - error).contradicts(proved), known=1.0 - self.confidence
            )
        return _smallest_error(lambda error: self._above(proved, error), known=1.0)

    def most_exposed(self, k: int = 10) -> Exposed:
        """The k members that this attack is surest about; for the owner's eyes only."""
        require(k >= 1, "k", k, ">= 1")
        order = np.argsort(-self.member_scores, kind="stable")[:k]
        rows = order if self.member_rows is None else self.member_rows[order]
        return Exposed(
            attack=self.attack, rows=tuple(rows.tolist()), scores=tuple(self.member_scores[order].tolist())
        )

    def plot(self) -> Any:
        """The ROC on logarithmic axes, with what the proof forbids shaded (a matplotlib figure)."""
        from holdfast.attack._roc import roc_figure

        return roc_figure((self,), proved=self.proved)

    def summary(self, *, verdict: str | None = None) -> str:
        """A few lines that a statistician can read; `verdict` stands in the place of its own, where one is given."""
        lines = [
            f"attack {self.attack}: AUC {self.auc:.4f}, advantage {self.advantage:.4f}, "
            f"{self.member_scores.size} members, {self.non_member_scores.size} non-members"
        ]
        for rate in SHOWN_RATES:
            allowed = (
                ""
                if self.proved is None
                else f"; the proof allows {rate_text(self.proved.detection_at(rate))}"
            )
            few = (
                " (no false alarm allowed: few non-members)" if self.non_member_scores.size * rate < 1 else ""
            )
            lines.append(
                f"  finds {self.tpr_at(rate).summary()} at {100 * rate:g} % false alarms{few}{allowed}"
            )
        stated_verdict = verdict or self.verdict()
        lines.append(f"  verdict: {stated_verdict}{REASONS.get((stated_verdict, self.game), '')}")
        lines.append(f"  {NOTICE}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The figures and about a hundred points of the ROC, without the scores of anybody."""
        alarms, hits = thinned_roc(*self.roc())
        return {
            "attack": self.attack,
            "audience": self.audience,
            "game": self.game,
            "members": self.member_scores.size,
            "non_members": self.non_member_scores.size,
            "auc": self.auc,
            "advantage": self.advantage,
            "tpr_at": {
                f"{rate:g}": {"value": float(detection), "low": detection.low, "high": detection.high}
                for rate, detection in ((rate, self.tpr_at(rate)) for rate in SHOWN_RATES)
            },
            "roc": {"false_alarm": alarms.tolist(), "found": hits.tolist()},
            "tried": self.tried,
            "confidence": self.confidence,
            "verdict": self.verdict(),
            "p_value": self.p_value(),
            "seconds": self.seconds,
        }

    def strength(self) -> tuple[float, ...]:
        """Members found at 1 % false alarms; the area where these tie."""
        return float(self.tpr_at(0.01)), self.auc

    # Several results in one report.
    @classmethod
    def table_of(cls, report: AttackReport[MembershipResult]) -> str:
        """One line for each attack of the report."""
        lines = [
            f"  {'attack':<18}{'AUC':>8}{'advantage':>11}{'found at 1 %':>24}{'found at 0.1 %':>24}"
            f"{'seconds':>9}  verdict"
        ]
        lines += [
            f"  {r.attack:<18}{r.auc:>8.4f}{r.advantage:>11.4f}{r.tpr_at(0.01).summary():>24}"
            f"{r.tpr_at(0.001).summary():>24}{r.seconds:>9.2f}  {r.verdict()}"
            for r in report
        ]
        return "\n".join(lines)

    @classmethod
    def summary_of(cls, report: AttackReport[MembershipResult]) -> str:
        """The table of the report, what it means, and what was left out."""
        first = report.results[0]
        head = (
            f"membership attacks: {first.member_scores.size} members, {first.non_member_scores.size} non-members, "
            f"{report.models} reference models; members found, with 95 % limits, at 1 % and 0.1 % false alarms"
        )
        lines = [head, report.table()]
        if first.proved is not None:
            allowed = ", ".join(
                f"{rate_text(first.proved.detection_at(rate))} at {100 * rate:g} %" for rate in SHOWN_RATES
            )
            lines.append(f"  the proof allows nobody more than {allowed} false alarms")
        lines += [f"  not made: {name} ({why})" for name, why in report.skipped.items()]
        lines += [f"  {name}: {note}" for name, note in report.notes.items()]
        verdict = report.verdict()
        lines.append(f"  verdict: {verdict}{REASONS.get((verdict, first.game), '')}")
        return "\n".join([*lines, f"  {NOTICE}"])

    @classmethod
    def figure_of(cls, report: AttackReport[MembershipResult]) -> Any:
        """Every ROC of the report in one picture on logarithmic axes (a matplotlib figure)."""
        from holdfast.attack._roc import roc_figure

        return roc_figure(report.results, proved=report.results[0].proved)


@checked
@dataclass(frozen=True, kw_only=True)
class Exposed:
    """The members that an attack is surest about, by their row number. Sensitive: it names who was in the data.

    Parameters
    ----------
    attack : str
        The name of the attack.
    rows : tuple of int
        Row numbers in the owner's data, the surest first.
    scores : tuple of float
        The attack's score of each of them.

    Examples
    --------
    >>> print(Exposed(attack="loss", rows=(17,), scores=(3.25,)).summary())
    SENSITIVE: the members most exposed to the attack 'loss', for the owner of the data
      member row 17: score 3.25
    """

    attack: str
    rows: tuple[int, ...]
    scores: tuple[float, ...]
    audience: ClassVar[str] = "internal"
    sensitive: ClassVar[bool] = True

    def summary(self) -> str:
        """One line per record."""
        lines = [
            f"SENSITIVE: the members most exposed to the attack {self.attack!r}, for the owner of the data"
        ]
        lines += [
            f"  member row {row}: score {score:.4g}"
            for row, score in zip(self.rows, self.scores, strict=True)
        ]
        return "\n".join(lines)


def audited_curve(members: Floats, non_members: Floats, *, confidence: float, tried: int = 1) -> TradeOff:
    """The best test lies on or below this, where every score comes from a training or synthesis of its own.

    Never for records judged by one model, which depend on each other (soundness, section 14).
    """
    pairs = limits(members, non_members, confidence=confidence, tried=tried)
    points = sorted([(0.0, 1.0), *pairs, (1.0, 0.0)])
    false_alarm, miss = np.array(points).T
    # Between two points the attacker tosses a coin.
    return TradeOff(false_alarm, np.minimum.accumulate(miss), claim="audited", confidence=confidence)


def limits(
    members: Floats, non_members: Floats, *, confidence: float, tried: int = 1
) -> list[tuple[float, float]]:
    """Limits of the error rates at `CHECKED_RATES`; they hold together, for all attacks, with this confidence."""
    error = (1.0 - confidence) / (2 * len(CHECKED_RATES) * tried)
    return reached_points(members, non_members, rates=CHECKED_RATES, error=error)


def _smallest_error(refuted: Callable[[float], bool], *, known: float) -> float:
    """The smallest error at which the claim is refuted, to a tenth of a percent; `known` where no smaller one does."""
    low, high = math.log(1e-12), math.log(known) if known < 1.0 else -1e-9
    if known == 1.0 and not refuted(math.exp(high)):
        return 1.0
    if refuted(math.exp(low)):
        return math.exp(low)
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refuted(math.exp(middle)) else (middle, high)
    return math.exp(high)
