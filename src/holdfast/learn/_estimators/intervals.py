"""`conf_int` of the linear estimators: intervals from the release alone, or the reason why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from holdfast._arguments import checked
from holdfast.errors import NoIntervals
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._choice import find_learner
from holdfast.learn._estimators.linear_model import LinearModel
from holdfast.learn._inference.score import NoisyScore
from holdfast.learn.methods.method import Learner
from holdfast.release import Release

if TYPE_CHECKING:
    from holdfast.learn._inference.coefficients import CoefficientIntervals


SEVERAL_ROWS = "a unit owns several rows, which are not independent draws; average each unit's rows into one"


def stored_score(
    score: NoisyScore,
    *,
    unit: float,
    origin: float,
    constant: float,
    row_norm: float,
    longest_row: float | None,
) -> dict[str, Any]:
    """What a model stores for its intervals: the score, how weights become coefficients, and the lengths of rows."""
    scales, shifts = np.full(score.dimension, unit), np.zeros(score.dimension)
    if constant:
        scales[-1], shifts[-1] = unit * constant, origin
    return {
        "score": score.value(),
        "scales": scales,
        "shifts": shifts,
        "row_norm": row_norm,
        "longest_row": longest_row,
    }


def why_no_intervals(estimator: str, method: str, *, gives: str, scores: int, max_rows: int) -> str:
    """Why the released model of an estimator has no intervals; `gives` is the method whose release suffices, or "".

    >>> why_no_intervals("PrivateLasso", "frank_wolfe", gives="", scores=1, max_rows=1)
    'no theory of intervals is known for PrivateLasso with 1 scores'
    """
    if scores > 1 or not gives:
        return f"no theory of intervals is known for {estimator} with {scores} scores"
    if max_rows > 1:
        return SEVERAL_ROWS
    # Only holdfast's own methods are asked, so that a page reads the same whatever else is installed.
    reason = next(
        (learner.no_intervals for learner in LEARNERS if learner.name == method), Learner.no_intervals
    )
    return f"no intervals by method {method!r}: {reason}; method={gives!r} gives them"


@checked
class WithIntervals:
    """A base class with `conf_int`, and with the part of a summary that is about intervals."""

    model_: LinearModel
    release_: Release[Any] | None
    method_: str
    method: Any
    intervals_by: ClassVar[str] = ""
    """The method whose release suffices for intervals; empty where no theory is known."""

    def _wants_intervals(self) -> bool:
        """Whether the chosen method is the one whose release is sufficient for intervals."""
        if not self.intervals_by or self.method == "auto":
            return False
        return find_learner(self.method).name == self.intervals_by

    def conf_int(
        self, level: float = 0.95, *, parameters: Sequence[str] | None = None, method: str = "wald"
    ) -> CoefficientIntervals:
        """Intervals and p-values that cover sampling *and* privacy noise, from the release alone: nothing is spent.

        Parameters
        ----------
        level : float
            The probability with which each interval covers its coefficient, in (0, 1).
        parameters : sequence of str, optional
            The names of the coefficients to report; by default all.
        method : {"wald", "test_inversion"}
            "test_inversion" (least squares) also speaks where noise swamps the information, by sets that may have no
            end.

        Returns
        -------
        CoefficientIntervals
            An interval and a p-value for each coefficient. `NoIntervals` is raised where the release does not say
            enough; the message says why, and which method would.
        """
        check_is_fitted(self, "model_")
        from holdfast.learn._inference.coefficients import coefficient_intervals

        stored = self.model_.inference
        if stored is None or self.release_ is None or self.release_.guarantee.unit.max_rows > 1:
            raise NoIntervals(self._why_no_intervals())
        names = self.model_.names[: len(stored["scales"])]
        return coefficient_intervals(stored, names=names, level=level, method=method, parameters=parameters)

    def _why_no_intervals(self) -> str:
        if self.release_ is None:
            return "epsilon=inf: this fit is not private, and intervals for it are any statistics package's"
        return why_no_intervals(
            type(self).__name__,
            self.method_,
            gives=self.intervals_by,
            scores=self.model_.coef.shape[0],
            max_rows=self.release_.guarantee.unit.max_rows,
        )

    def _interval_summary(self) -> str:
        try:
            return self.conf_int().summary()
        except NoIntervals as refusal:
            return f"  no intervals that cover sampling error: {refusal}"
