"""The finding of a transcript audit: error counts of two tests of which table a run was on, and a t statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from holdfast._arguments import checked
from holdfast.audit._bounds import multi_run
from holdfast.audit._bounds.fdp import gaussian_epsilon
from holdfast.audit._bounds.normal_scores import NormalScores
from holdfast.audit._bounds.one_run import error_of
from holdfast.audit._bounds.signal import Signal
from holdfast.audit._findings.finding import smallest_error
from holdfast.errors import require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve
from holdfast.privacy._safe_side import safe_side
from holdfast.privacy._tradeoff import TradeOff

BOUND_METHODS = {
    "clopper-pearson": "Clopper-Pearson limits on both error rates, against the whole curve",
    "gaussian": "non-central t of normal scores",
}


@checked
@dataclass(frozen=True, kw_only=True)
class Transcripts:
    """Runs of the real code on two public tables that differ in a group of records, told apart by their transcripts.

    Two thresholds were chosen on other runs. The bound and the test each hold at the stated confidence.

    Parameters
    ----------
    errors : ErrorRates
        Counted at the threshold for the largest epsilon.
    against : ErrorRates
        Counted at the threshold for the claim's curve.
    scores : NormalScores
        The t statistic of the scores, and whether they are normal by construction.
    distance : float
        The largest distance of the two tables at one release, in units of what is declared for the group: 1 means that
        any understatement shows.
    group : int
        In how many records the tables differ.
    bound : {'clopper-pearson', 'gaussian'}
        Whether epsilon comes from the counted errors or from the t statistic.

    Examples
    --------
    >>> from holdfast.audit import ErrorRates
    >>> from holdfast.audit._bounds.normal_scores import NormalScores
    >>> errors = ErrorRates(false_alarms=0, without=1000, misses=0, with_canary=1000)
    >>> scores = NormalScores(count=1000, statistic=90.0)
    >>> runs = Transcripts(errors=errors, against=errors, scores=scores, distance=1.0)
    >>> round(runs.epsilon_lower(delta=0.0, confidence=0.95), 2), runs.correct
    (5.6, 2000)
    """

    kind: ClassVar[str] = "transcript"
    may_refute: ClassVar[bool] = True
    errors: multi_run.ErrorRates
    against: multi_run.ErrorRates
    scores: NormalScores
    distance: float
    group: int = 1
    bound: Literal["clopper-pearson", "gaussian"] = "clopper-pearson"

    def __post_init__(self) -> None:
        require(self.bound in BOUND_METHODS, "bound", self.bound, f"one of {', '.join(BOUND_METHODS)}")
        require(isinstance(self.group, int) and self.group >= 1, "group", self.group, "an integer >= 1")

    @property
    def canaries(self) -> int:
        """The number of coins, one for each counted run."""
        return self.against.without + self.against.with_canary

    @property
    def guesses(self) -> int:
        """The number of guesses, one for each counted run."""
        return self.canaries

    @property
    def correct(self) -> int:
        """The number of runs that the test put on the right table."""
        return self.canaries - self.against.false_alarms - self.against.misses

    @property
    def is_bound(self) -> bool:
        """Whether the bound assumes nothing about the code, or its assumptions were checked."""
        return self.bound == "clopper-pearson" or self.scores.checked

    def epsilon_lower(self, *, delta: float, confidence: float) -> float:
        """The largest epsilon at this `delta` whose curve for groups is refuted with this `confidence`."""
        if self.bound == "gaussian":
            return gaussian_epsilon(self.scores.mu_lower(confidence=confidence) / self.group, delta=delta)
        if self.group == 1:
            return multi_run.epsilon_lower(self.errors, delta=delta, confidence=confidence)
        beta = error_of(confidence)

        def excess(epsilon: float) -> float:
            proved = ApproxDP(epsilon, delta).group(self.group).trade_off()
            return -1.0 if multi_run.is_contradicted(proved, *self.errors.limits_at(beta)) else 1.0

        if excess(0.0) > 0.0:
            return 0.0
        high = 1.0
        while excess(high) < 0.0:
            high *= 2.0
        return safe_side(excess, unsafe=high, safe=0.0, tolerance=1e-6)

    def p_value(self, claim: PrivacyCurve, *, delta: float) -> float:
        """The smallest error at which the limits of both error rates contradict the curve of the `claim`.

        The whole curve is tested, whatever the `delta`.
        """
        proved = claim.trade_off()
        return smallest_error(lambda error: multi_run.is_contradicted(proved, *self.against.limits_at(error)))

    def trade_off(self, *, delta: float, confidence: float) -> TradeOff:
        """With this `confidence` the best test is on or below this polygon, whatever the `delta`."""
        return multi_run.polygon(self.against, confidence=confidence)

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
            How the tables' difference shows in the score of a transcript.
        runs : int
            Not used: the number of runs is that of the counted errors.

        Returns
        -------
        float
            The probability.
        """
        return multi_run.contradiction_power(claim.trade_off(), self.against, beta=beta, signal=signal)

    def method(self) -> str:
        """How the bound is computed, in words."""
        pair = (
            ""
            if self.group == 1
            else f" of groups of {self.group} records, against the promise for such groups"
        )
        assumption = ""
        if self.bound == "gaussian":
            assumption = (
                "; its assumption, fixed normal scores, was checked"
                if self.scores.checked
                else "; it rests on normal scores, which the releases do not guarantee"
            )
        return (
            f"runs of the code on two public tables{pair}, likelihood ratio of the transcript, "
            f"{BOUND_METHODS[self.bound]}{assumption}; tests the code, not this run's rows"
        )
