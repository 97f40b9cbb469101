"""CoefficientIntervals: an interval for each coefficient that covers sampling and privacy noise together.

Intervals are computed from the release: no row is read and no budget is spent. They are about the coefficients of the
population's regression of rows and targets *as they were clipped*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import chi2, norm

from holdfast._arrays import Floats
from holdfast._assumption import Assumption
from holdfast._extras import import_optional
from holdfast.errors import NoIntervals, ParameterError, require
from holdfast.learn._inference.inversion import ScoreTest
from holdfast.learn._inference.public_design import clipping_assumptions
from holdfast.learn._inference.refusal import refusal_reason
from holdfast.learn._inference.score import NoisyScore

IntervalMethod = Literal["wald", "test_inversion"]
COLUMNS = ("estimate", "std_error", "low", "high", "p_value")
"""The numbers of a coefficient: the columns of a table of intervals."""
ASSUMED_BY_LOSS = {
    "squared": "equal variance of the target around the line, rows drawn independently",
    "logistic": "the logistic model holds for the clipped rows, rows drawn independently",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class CoefficientIntervals:
    """Intervals and p-values by the names of the coefficients, in the units of the table.

    `p_value` is for the hypothesis that the coefficient is 0. `std_error` is NaN for test inversion, which has none.
    """

    names: tuple[str, ...]
    estimate: Floats
    std_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    level: float
    method: IntervalMethod
    rests_on: str
    cut: str = ""
    """A caution for the first line, where rows may have been cut: intervals are then about other coefficients."""

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, float, float]]:
        """The name, the low end and the high end of each interval."""
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            yield name, float(low), float(high)

    def __getitem__(self, name: str) -> tuple[float, float]:
        """The interval (low, high) of a coefficient."""
        require(name in self.names, "name", name, f"one of {', '.join(self.names[:20])}")
        place = self.names.index(name)
        return float(self.low[place]), float(self.high[place])

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each coefficient: its name and its numbers, as every tool for tables takes them."""
        numbers = {column: values.tolist() for column, values in self._columns().items()}
        return [
            {"name": name, **{column: numbers[column][place] for column in COLUMNS}}
            for place, name in enumerate(self.names)
        ]

    def _columns(self) -> dict[str, Floats]:
        """The numbers of all coefficients, by column."""
        values = (self.estimate, self.std_error, self.low, self.high, self.p_value)
        return dict(zip(COLUMNS, values, strict=True))

    def to_pandas(self) -> Any:
        """A data frame with one row for each coefficient (needs the extra `pandas`; `to_dicts` does not)."""
        pandas = import_optional("pandas", instead="to_dicts() and summary() say the same")
        return pandas.DataFrame(self._columns(), index=list(self.names))

    def summary(self, most: int = 40) -> str:
        """A line for each coefficient, and what the intervals rest on."""
        lines = [f"  {self.cut}"] if self.cut else []
        lines += [f"  {'':<28} {'estimate':>12} {f'{100 * self.level:g} % interval':>27} {'p':>9}"]
        rows = [*zip(self.names, self.estimate, self.low, self.high, self.p_value, strict=True)]
        for name, estimate, low, high, p in rows[:most]:
            lines.append(f"  {name[:28]:<28} {estimate:>12.4g} {f'[{low:.4g}, {high:.4g}]':>27} {p:>9.2g}")
        if len(rows) > most:
            lines.append(f"  ... and {len(rows) - most} more")
        lines.append(
            f"  intervals ({self.method}) cover sampling and privacy noise, each by itself, for the regression of the "
            f"clipped rows and targets; they rest on: {self.rests_on}"
        )
        return "\n".join(lines)


def coefficient_intervals(
    stored: Mapping[str, Any],
    *,
    names: Sequence[str],
    level: float = 0.95,
    method: str = "wald",
    parameters: Sequence[str] | None = None,
) -> CoefficientIntervals:
    """Intervals from what a model stores about its score; `NoIntervals` where noise swamps the information.

    `stored` holds the score, and the `scales` and `shifts` that turn its weights into coefficients.
    """
    _check_arguments(level, method, names, parameters)
    score = NoisyScore.of_value(stored["score"])
    scales, shifts = (np.asarray(stored[name], dtype=np.float64) for name in ("scales", "shifts"))
    require(
        len(names) == score.dimension, "names", len(names), f"{score.dimension}, one for each coefficient"
    )
    chosen = [names.index(name) for name in (names if parameters is None else parameters)]
    if method == "wald":
        parts = _wald(
            score,
            chosen,
            names=names,
            level=level,
            shifts=shifts / scales,
            row_norm=stored["row_norm"],
            longest_row=stored["longest_row"],
        )
    else:
        parts = _inversion_sets(score, chosen, level=level, shifts=shifts / scales)
    estimate, error, low, high, p_value = parts
    scale, shift = scales[chosen], shifts[chosen]
    return CoefficientIntervals(
        names=tuple(names[place] for place in chosen),
        estimate=scale * estimate + shift,
        std_error=scale * error,
        low=scale * low + shift,
        high=scale * high + shift,
        p_value=p_value,
        level=float(level),
        method="wald" if method == "wald" else "test_inversion",
        rests_on=ASSUMED_BY_LOSS[score.loss],
        cut=" ".join(assumption.text for assumption in _clipping_assumptions(stored)),
    )


def _clipping_assumptions(stored: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """The assumptions of a stored fit whose rows may have been cut."""
    row_norm, longest_row = stored["row_norm"], stored["longest_row"]
    if row_norm is None:
        return ()
    return clipping_assumptions(float(row_norm), None if longest_row is None else float(longest_row))


def _check_arguments(
    level: float, method: str, names: Sequence[str], parameters: Sequence[str] | None
) -> None:
    require(isinstance(level, float) and 0.5 <= level < 1, "level", level, "in [0.5, 1)")
    require(method in ("wald", "test_inversion"), "method", method, "'wald' or 'test_inversion'")
    if parameters is None:
        return
    for name in (parameters,) if isinstance(parameters, str) else parameters:
        if name not in names or isinstance(parameters, str):
            raise ParameterError(
                f"parameters must be a list of coefficients, got {name!r}; they are {', '.join(names[:20])}"
            )


def _wald(
    score: NoisyScore,
    chosen: list[int],
    *,
    names: Sequence[str],
    level: float,
    shifts: Floats,
    row_norm: float | None,
    longest_row: float | None,
) -> tuple[Floats, ...]:
    """Estimates, standard errors, both ends and p-values by the normal law (Wald's method)."""
    if score.strength.too_low_for_intervals:
        raise NoIntervals(refusal_reason(score, names=names, row_norm=row_norm, longest_row=longest_row))
    estimate = score.solution[chosen]
    error = np.sqrt(np.diag(score.covariance())[chosen])
    reach = float(norm.ppf(0.5 + 0.5 * level)) * error
    p_value = 2.0 * norm.sf(np.abs(estimate + shifts[chosen]) / error)
    return estimate, error, estimate - reach, estimate + reach, np.asarray(p_value)


def _inversion_sets(
    score: NoisyScore, chosen: list[int], *, level: float, shifts: Floats
) -> tuple[Floats, ...]:
    """Estimates, no standard errors, both ends and p-values by test inversion."""
    if score.loss != "squared":
        raise NoIntervals(
            "test inversion is for least squares: the score of a logistic regression is linear only near its fit; "
            "use method='wald'"
        )
    test, quantile = ScoreTest(score), float(chi2.ppf(level, 1))
    ends = np.array([test.interval(place, quantile) for place in chosen])
    p_value = np.array([chi2.sf(test.profile(place, -float(shifts[place])), 1) for place in chosen])
    unknown = np.full(len(chosen), math.nan)
    return np.array([test.centre(place) for place in chosen]), unknown, ends[:, 0], ends[:, 1], p_value
