"""Accuracy against epsilon on the owner's own data, and back: which epsilon an accuracy needs.

Fits with seeded noise, scored exactly on held-out rows: internal, unless the data were declared public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.data.schema import Schema
from holdfast.dossier.comparison.methods import NOTES, HeldOut
from holdfast.dossier.section import visible
from holdfast.errors import require
from holdfast.extras import optional
from holdfast.progress import progress

Floats = NDArray[np.float64]
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Where none are named."""
SURE = 0.95
"""Of the intervals around means."""
DECLARED_PUBLIC = (
    "NOT PRIVATE: seeded noise, exact scores on held-out records of data that whoever ran this declared public",
)


@dataclass(frozen=True, kw_only=True)
class EpsilonPoint:
    """The mean over fits, each on a split of its own, and the standard error of that mean."""

    method: str
    epsilon: float
    accuracy: float
    error: float


@dataclass(frozen=True, kw_only=True)
class WhichEpsilon:
    """The smallest epsilon that was tried whose mean reaches an accuracy, and how unsure that is.

    `between` interpolates the means on a logarithmic scale; `low` and `high` do the same with the upper and lower ends
    of their intervals. None: not reached by any epsilon that was tried. `lasting`: the upper ends reach it at every
    epsilon tried above `low`, too, which they need not where a method gets worse.
    """

    method: str
    accuracy: float
    tried: float | None
    between: float | None
    low: float | None
    high: float | None
    lasting: bool = True

    def summary(self) -> str:
        """One sentence."""
        if self.tried is None:
            near = "" if self.low is None else f"; with luck from {self.low:.2g} on"
            if not self.lasting:
                near = f"; with luck at {self.low:.2g}, but not at every larger one"
            return f"{self.method}: no epsilon that was tried reaches {self.accuracy:g} on average{near}"
        high = "more than any tried; more fits tell" if self.high is None else f"{self.high:.2g}"
        low = "-" if self.low is None else f"{self.low:.2g}"
        about = (
            ""
            if self.between is None or self.between == self.tried
            else f", about {self.between:.2g} in between"
        )
        return (
            f"{self.method}: accuracy {self.accuracy:g} needs epsilon {self.tried:g} of those tried{about} "
            f"({100 * SURE:g} % interval: {low} to {high})"
        )


@dataclass(frozen=True, kw_only=True)
class EpsilonComparison:
    """Accuracy of each method at each epsilon, beside no privacy and no model."""

    title: str
    points: tuple[EpsilonPoint, ...]
    without_privacy: EpsilonPoint
    majority: float
    fits: int
    held: int
    notes: tuple[str, ...]
    answers: tuple[WhichEpsilon, ...] = ()
    audience: str = "internal"

    @property
    def methods(self) -> tuple[str, ...]:
        """In the order in which they were named."""
        return tuple(dict.fromkeys(one.method for one in self.points))

    @property
    def quantile(self) -> float:
        """How many standard errors an interval reaches: Student's t for so many fits."""
        from scipy.stats import t

        return float(t.ppf(0.5 + SURE / 2, self.fits - 1))

    def of(self, method: str) -> tuple[EpsilonPoint, ...]:
        """One method, the smallest epsilon first."""
        return tuple(sorted((p for p in self.points if p.method == method), key=lambda p: p.epsilon))

    def which(self, accuracy: float) -> tuple[WhichEpsilon, ...]:
        """For each method the smallest epsilon that reaches it."""
        require(0 < accuracy < 1, "accuracy", accuracy, "in (0, 1)")
        return tuple(_which(name, self.of(name), accuracy, self.quantile) for name in self.methods)

    def summary(self) -> str:
        """A table of means and standard errors, what was asked, and the notes."""
        wide = max(len(name) for name in (*self.methods, "without privacy"))
        lines = [self.title, f"{'':{wide}}  {'epsilon':>8}  {'accuracy':>8}  {'std. error':>10}"]
        for one in (*(p for name in self.methods for p in self.of(name)), self.without_privacy):
            epsilon = "inf" if math.isinf(one.epsilon) else f"{one.epsilon:g}"
            lines.append(f"{one.method:{wide}}  {epsilon:>8}  {one.accuracy:>8.4f}  {one.error:>10.4f}")
        lines.append(f"{'majority class':{wide}}  {'-':>8}  {self.majority:>8.4f}")
        lines += [one.summary() for one in self.answers]
        lines.append(f"{self.fits} fits each, on splits of their own; {self.held:,} rows held out of each")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_json(self) -> dict[str, Any]:
        """Plain data; no privacy is an epsilon of null."""
        return {
            "title": self.title,
            "audience": self.audience,
            "points": [asdict(one) for one in self.points],
            "without_privacy": asdict(self.without_privacy) | {"epsilon": None},
            "majority": self.majority,
            "fits": self.fits,
            "held_out": self.held,
            "confidence": SURE,
            "which_epsilon": [asdict(one) for one in self.answers],
            "notes": list(self.notes),
        }

    def plot(self) -> Any:
        """Accuracy against epsilon, with intervals and the line without privacy (a matplotlib figure)."""
        figure = optional("matplotlib.figure", instead="summary() and to_html()").Figure(
            figsize=(6.4, 4.4), layout="constrained"
        )
        axis = figure.subplots()
        for name in self.methods:
            points = self.of(name)
            axis.errorbar(
                [p.epsilon for p in points], [p.accuracy for p in points], fmt="o-", capsize=3, label=name,
                yerr=[self.quantile * p.error for p in points],
            )  # fmt: skip
        axis.axhline(self.without_privacy.accuracy, color="#1c2733", linestyle="--", label="without privacy")
        axis.axhline(self.majority, color="#55626f", linestyle=":", label="majority class")
        for one in self.answers[:1]:
            axis.axhline(one.accuracy, color="#b8501c", linestyle="-.", label=f"asked: {one.accuracy:g}")
        axis.set(xscale="log", xlabel="epsilon", ylabel="accuracy on held-out rows")
        axis.legend(frameon=False)
        return figure

    def html(self) -> str:
        """One self-contained page."""
        from markupsafe import Markup

        import holdfast
        from holdfast.dossier.charts.comparing import epsilon_chart
        from holdfast.dossier.page import document

        drawn = epsilon_chart(
            "Accuracy against epsilon",
            {name: [(p.epsilon, p.accuracy, self.quantile * p.error) for p in self.of(name)] for name in self.methods},
            ceiling=self.without_privacy.accuracy, floor=self.majority,
            asked=self.answers[0].accuracy if self.answers else None,
        )  # fmt: skip
        said = visible(self.to_json())
        answers = [visible(one.summary()) for one in self.answers]
        return document(
            "epsilons.html.j2", said=said, chart=Markup(drawn), answers=answers, version=holdfast.__version__
        )


def compare_epsilons(
    columns: Any,
    schema: Schema,
    *,
    target: str,
    methods: Sequence[str] = ("auto",),
    epsilons: Sequence[float] = EPSILONS,
    delta: float,
    fits: int = 3,
    holdout: float = 0.3,
    accuracy: float | None = None,
    data_are_public: bool = False,
) -> EpsilonComparison:
    """A logistic regression by each method at each epsilon, and without privacy, on the same splits.

    Nothing is charged: the noise is seeded and the scores are exact, so the result is for whoever holds the data.
    """
    require(fits >= 2, "fits", fits, ">= 2, for a standard error")
    require(bool(methods), "methods", methods, "one or more names")
    require(bool(epsilons), "epsilons", list(epsilons), "one or more numbers")
    for epsilon in epsilons:
        require(math.isfinite(epsilon) and epsilon > 0, "epsilon", epsilon, "a finite number > 0")
    if accuracy is not None:
        require(0 < accuracy < 1, "accuracy", accuracy, "in (0, 1)")
    tried = sorted(set(epsilons))
    splits = [HeldOut.of(columns, schema, target, holdout=holdout, seed=seed) for seed in range(fits)]
    points = []
    with progress(desc="fitting", total=fits * (len(tried) * len(methods) + 1)) as bar:

        def mean(method: str, epsilon: float, name: str) -> EpsilonPoint:
            scores = []
            for seed, rows in enumerate(splits):
                scores.append(rows.accuracy(method, epsilon=epsilon, delta=delta, seed=seed))
                bar.update()
            error = float(np.std(scores, ddof=1) / math.sqrt(fits))
            return EpsilonPoint(method=name, epsilon=epsilon, accuracy=float(np.mean(scores)), error=error)

        for method in methods:
            points += [mean(method, epsilon, method) for epsilon in tried]
        alone = mean("auto", math.inf, "without privacy")
    made = EpsilonComparison(
        title=f"Accuracy against epsilon: {target}, delta {delta:g}", points=tuple(points), without_privacy=alone,
        majority=float(np.mean([rows.majority() for rows in splits])), fits=fits, held=len(splits[0].wanted),
        notes=DECLARED_PUBLIC if data_are_public else NOTES, audience="public" if data_are_public else "internal",
    )  # fmt: skip
    if accuracy is None:
        return made
    return replace(made, answers=made.which(accuracy))


def _which(method: str, points: Sequence[EpsilonPoint], accuracy: float, quantile: float) -> WhichEpsilon:
    epsilons = np.array([one.epsilon for one in points])
    means = np.array([one.accuracy for one in points])
    reach = quantile * np.array([one.error for one in points])
    reached, likely = np.flatnonzero(means >= accuracy), means + reach >= accuracy
    return WhichEpsilon(
        method=method, accuracy=accuracy, tried=float(epsilons[reached[0]]) if reached.size else None,
        between=first_reached(epsilons, means, accuracy), low=first_reached(epsilons, means + reach, accuracy),
        high=first_reached(epsilons, means - reach, accuracy),
        lasting=not likely.any() or bool(likely[np.argmax(likely) :].all()),
    )  # fmt: skip


def first_reached(epsilons: Floats, values: Floats, asked: float) -> float | None:
    """The first epsilon at which a line through the points, on a logarithmic scale, is as high as asked.

    >>> first_reached(np.array([1.0, 100.0]), np.array([0.6, 0.8]), 0.7)
    10.0
    >>> first_reached(np.array([1.0, 100.0]), np.array([0.6, 0.8]), 0.9) is None
    True
    """
    above = np.flatnonzero(values >= asked)
    if not above.size:
        return None
    at = int(above[0])
    if at == 0:
        return float(epsilons[0])
    share = (asked - values[at - 1]) / (values[at] - values[at - 1])
    low, high = math.log(epsilons[at - 1]), math.log(epsilons[at])
    return float(f"{math.exp(low + share * (high - low)):.6g}")
