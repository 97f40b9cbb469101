"""CoefficientIntervals: what a release says about each coefficient, sampling and privacy noise together.

Everything is post-processing of the release: no row is read and no budget is spent. What is covered is the coefficient
of the population's regression of rows and targets *as they were clipped*.
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
from holdfast.learn._inference.refusal import why_swamped
from holdfast.learn._inference.score import NoisyScore

IntervalMethod = Literal["wald", "test_inversion"]
COLUMNS = ("estimate", "std_error", "low", "high", "p_value")
"""The numbers of a coefficient, as a table has them."""
METHOD_BY_LOSS = {"squared": "ssp", "logistic": "newton"}
"""The method whose release says enough, by loss."""
RESTS_ON = {
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
    """What is said first where rows may have been shortened: intervals are then about other coefficients."""

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, float, float]]:
        """Name, low and high of each."""
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            yield name, float(low), float(high)

    def __getitem__(self, name: str) -> tuple[float, float]:
        """(low, high) of one coefficient."""
        require(name in self.names, "name", name, f"one of {', '.join(self.names[:20])}")
        place = self.names.index(name)
        return float(self.low[place]), float(self.high[place])

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each coefficient: its name and its numbers, as every tool for tables takes them."""
        numbers = {column: getattr(self, column).tolist() for column in COLUMNS}
        return [
            {"name": name, **{column: numbers[column][place] for column in COLUMNS}}
            for place, name in enumerate(self.names)
        ]

    def to_pandas(self) -> Any:
        """A data frame with one row for each coefficient (needs the extra `pandas`; `to_dicts` does not)."""
        pandas = import_optional("pandas", instead="to_dicts() and summary() say the same")
        return pandas.DataFrame({column: getattr(self, column) for column in COLUMNS}, index=list(self.names))

    def summary(self, most: int = 40) -> str:
        """A line for each, and what the intervals rest on."""
        lines = [f"  {self.cut}"] if self.cut else []
        lines += [f"  {'':<28} {'estimate':>12} {f'{100 * self.level:g} % interval':>27} {'p':>9}"]
        rows = [*zip(self.names, self.estimate, self.low, self.high, self.p_value, strict=True)]
        for name, estimate, low, high, p in rows[:most]:
            lines.append(f"  {name[:28]:<28} {estimate:>12.4g} {f'[{low:.4g}, {high:.4g}]':>27} {p:>9.2g}")
        lines += [f"  ... and {len(rows) - most} more"] * (len(rows) > most)
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

    `stored` holds the score, and by `scales` and `shifts` how weights become coefficients.
    """
    _check(level, method, names, parameters)
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
        rests_on=RESTS_ON[score.loss],
        cut=" ".join(assumption.text for assumption in _clipping_assumptions(stored)),
    )


def _clipping_assumptions(stored: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """What a fit said before it was paid for, where rows may be longer than they were cut to."""
    norm, longest = stored["row_norm"], stored["longest_row"]
    return (
        () if norm is None else clipping_assumptions(float(norm), None if longest is None else float(longest))
    )


def _check(level: float, method: str, names: Sequence[str], parameters: Sequence[str] | None) -> None:
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
    """The solution, and a normal quantile of deviations to both sides."""
    if score.unreliable:
        raise NoIntervals(why_swamped(score, names=names, row_norm=row_norm, longest_row=longest_row))
    estimate = score.solution[chosen]
    error = np.sqrt(np.diag(score.covariance())[chosen])
    reach = float(norm.ppf(0.5 + 0.5 * level)) * error
    p_value = 2.0 * norm.sf(np.abs(estimate + shifts[chosen]) / error)
    return estimate, error, estimate - reach, estimate + reach, np.asarray(p_value)


def _inversion_sets(
    score: NoisyScore, chosen: list[int], *, level: float, shifts: Floats
) -> tuple[Floats, ...]:
    """What is not rejected."""
    if score.loss != "squared":
        raise NoIntervals(
            "test inversion is for least squares: the score of a logistic regression is linear only near its fit; "
            "use method='wald'"
        )
    test, quantile = ScoreTest(score), float(chi2.ppf(level, 1))
    ends = np.array([test.interval(place, quantile) for place in chosen])
    p_value = np.array([chi2.sf(test.least(place, -float(shifts[place])), 1) for place in chosen])
    unknown = np.full(len(chosen), math.nan)
    return np.array([test._centre(place) for place in chosen]), unknown, ends[:, 0], ends[:, 1], p_value
