"""Accuracy (of numbers, R2) against epsilon on the owner's own data, and back: which epsilon an accuracy needs.

Fits with seeded noise, scored exactly on held-out rows: internal, unless the data were declared public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast._extras import import_optional
from holdfast._progress import progress
from holdfast.data._schema import Schema
from holdfast.dossier._comparison.held_out import HeldOut, constant_name
from holdfast.dossier._comparison.methods import CHOICE_NOTES, NOT_PRIVATE_ALARMS, score_text
from holdfast.dossier._section import make_visible
from holdfast.errors import require

DEFAULT_EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""The epsilons that are tried where a caller names none."""
INTERVAL_CONFIDENCE = 0.95
"""The confidence of the intervals around means."""
DECLARED_PUBLIC_ALARMS = (
    "NOT PRIVATE: seeded noise, exact scores on held-out records of data that whoever ran this declared public",
)


@dataclass(frozen=True, kw_only=True)
class EpsilonPoint:
    """The mean over fits, each on a split of its own, and the standard error of that mean.

    `score` is the accuracy, or R2 where the target is a number; `others` are the means of the other measures.
    """

    method: str
    epsilon: float
    score: float
    error: float
    others: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NeededEpsilon:
    """The smallest epsilon that was tried whose mean reaches an accuracy, and how unsure that is.

    `between` interpolates the means on a logarithmic scale; `low` and `high` do the same with the upper and lower ends
    of their intervals. None: not reached by any epsilon that was tried. `lasting`: the upper ends reach it at every
    epsilon tried above `low`, too, which they need not where a method gets worse.
    """

    method: str
    accuracy: float
    """What is to be reached."""
    tried: float | None
    between: float | None
    low: float | None
    high: float | None
    lasting: bool = True
    measure: str = "accuracy"

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
            f"{self.method}: {self.measure} {self.accuracy:g} needs epsilon {self.tried:g} of those tried{about} "
            f"({100 * INTERVAL_CONFIDENCE:g} % interval: {low} to {high})"
        )


@dataclass(frozen=True, kw_only=True)
class EpsilonComparison:
    """What each method is worth at each epsilon, beside no privacy and a model without features."""

    title: str
    points: tuple[EpsilonPoint, ...]
    without_privacy: EpsilonPoint
    constant: EpsilonPoint
    """The commonest class, or the mean."""
    fits: int
    held: int
    notes: tuple[str, ...]
    alarms: tuple[str, ...] = ()
    """What a reader must know first: that nothing here is private."""
    answers: tuple[NeededEpsilon, ...] = ()
    audience: str = "internal"
    measure: str = "accuracy"

    @property
    def caption(self) -> str:
        """The title of pictures."""
        return f"{self.measure[0].upper()}{self.measure[1:]} against epsilon"

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of methods, in the order in which they were given."""
        return tuple(dict.fromkeys(point.method for point in self.points))

    @property
    def quantile(self) -> float:
        """How many standard errors an interval reaches: Student's t for so many fits."""
        from scipy.stats import t

        return float(t.ppf(0.5 + INTERVAL_CONFIDENCE / 2, self.fits - 1))

    def of(self, method: str) -> tuple[EpsilonPoint, ...]:
        """The points of one method, the smallest epsilon first."""
        return tuple(sorted((p for p in self.points if p.method == method), key=lambda p: p.epsilon))

    def needed_epsilons(self, accuracy: float) -> tuple[NeededEpsilon, ...]:
        """For each method the smallest epsilon that reaches it."""
        require(0 < accuracy < 1, "accuracy", accuracy, "in (0, 1)")
        return tuple(
            replace(_least_epsilon(name, self.of(name), accuracy, self.quantile), measure=self.measure)
            for name in self.methods
        )

    def summary(self) -> str:
        """A table of means and standard errors, what was asked, and the notes."""
        others = tuple(self.without_privacy.others)
        heads = ["epsilon", self.measure, "std. error", *others]
        points = [*(p for name in self.methods for p in self.of(name)), self.without_privacy, self.constant]
        table = [(point.method, self._cells(point)) for point in points]
        name_width = max(len(name) for name, _ in table)
        widths = [max(len(head), *(len(cells[at]) for _, cells in table)) for at, head in enumerate(heads)]
        lines = [self.title]
        for name, cells in [("", heads), *table]:
            padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append(f"{name:{name_width}}  {'  '.join(padded)}")
        lines += [answer.summary() for answer in self.answers]
        lines.append(f"{self.fits} fits each, on splits of their own; {self.held:,} rows held out of each")
        return "\n".join([*lines, *(f"note: {note}" for note in (*self.alarms, *self.notes))])

    def _cells(self, point: EpsilonPoint) -> list[str]:
        constant = point is self.constant
        epsilon = "-" if constant else "inf" if math.isinf(point.epsilon) else f"{point.epsilon:g}"
        error = "-" if constant else score_text(point.error)
        return [
            epsilon,
            score_text(point.score),
            error,
            *(score_text(value) for value in point.others.values()),
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain data; no privacy is an epsilon of null."""
        return {
            "title": self.title,
            "audience": self.audience,
            "measure": self.measure,
            "points": [_plain_point(point) for point in self.points],
            "without_privacy": _plain_point(self.without_privacy) | {"epsilon": None},
            "constant": _plain_point(self.constant) | {"epsilon": None, "error": None},
            "fits": self.fits,
            "held_out": self.held,
            "confidence": INTERVAL_CONFIDENCE,
            "which_epsilon": [asdict(answer) for answer in self.answers],
            "alarms": list(self.alarms),
            "notes": list(self.notes),
        }

    def plot(self) -> Any:
        """The score against epsilon, with intervals and the line without privacy (a matplotlib figure)."""
        figure = import_optional("matplotlib.figure", instead="summary() and to_html()").Figure(
            figsize=(6.4, 4.4), layout="constrained"
        )
        axis = figure.subplots()
        for name in self.methods:
            points = self.of(name)
            axis.errorbar(
                [p.epsilon for p in points],
                [p.score for p in points],
                fmt="o-",
                capsize=3,
                label=name,
                yerr=[self.quantile * p.error for p in points],
            )
        axis.axhline(self.without_privacy.score, color="#1c2733", linestyle="--", label="without privacy")
        axis.axhline(self.constant.score, color="#55626f", linestyle=":", label=self.constant.method)
        for answer in self.answers[:1]:
            axis.axhline(
                answer.accuracy, color="#b8501c", linestyle="-.", label=f"asked: {answer.accuracy:g}"
            )
        axis.set(xscale="log", xlabel="epsilon", ylabel=f"{self.measure} on held-out rows")
        axis.legend(frameon=False)
        return figure

    def html(self) -> str:
        """One self-contained page."""
        from markupsafe import Markup

        import holdfast
        from holdfast.dossier._charts.comparing import epsilon_chart
        from holdfast.dossier._page import document

        chart = epsilon_chart(
            self.caption,
            {
                name: [(p.epsilon, p.score, self.quantile * p.error) for p in self.of(name)]
                for name in self.methods
            },
            ceiling=self.without_privacy.score,
            floor=self.constant.score,
            measure=self.measure,
            floor_name=self.constant.method,
            goal=self.answers[0].accuracy if self.answers else None,
        )
        record = make_visible(self.to_json())
        answers = [make_visible(answer.summary()) for answer in self.answers]
        return document(
            "epsilons.html.j2",
            record=record,
            chart=Markup(chart),
            answers=answers,
            version=holdfast.__version__,
        )


def compare_epsilons(
    columns: Any,
    schema: Schema,
    *,
    target: str,
    methods: Sequence[str] = ("auto",),
    epsilons: Sequence[float] = DEFAULT_EPSILONS,
    delta: float,
    fits: int = 3,
    holdout: float = 0.3,
    accuracy: float | None = None,
    data_are_public: bool = False,
) -> EpsilonComparison:
    """A model by each method at each epsilon, and without privacy, on the same splits.

    Nothing is charged: the noise is seeded and the scores are exact, so the result is for whoever holds the data.

    Parameters
    ----------
    columns
        The rows: arrays by name, a data frame or an Arrow table. They are used without any privacy.
    schema
        What is public about them.
    target
        The column to predict: a logistic regression for classes, a linear model for numbers.
    methods
        Names of methods of linear models, and `additive` for the additive model.
    epsilons
        The promises at which each is tried.
    delta
        The same for all.
    fits
        How many splits and seeds, 2 or more.
    holdout
        The share of rows, or of users where they are the unit, that is held out.
    accuracy
        Asks which epsilon reaches it: the accuracy of classes, the R2 of numbers.
    data_are_public
        Declares that the rows may be shown; the result may be, then.
    """
    require(fits >= 2, "fits", fits, ">= 2, for a standard error")
    require(bool(methods), "methods", methods, "one or more names")
    require(bool(epsilons), "epsilons", list(epsilons), "one or more numbers")
    for epsilon in epsilons:
        require(math.isfinite(epsilon) and epsilon > 0, "epsilon", epsilon, "a finite number > 0")
    if accuracy is not None:
        require(0 < accuracy < 1, "accuracy", accuracy, "in (0, 1)")
    epsilon_grid = sorted(set(epsilons))
    splits = [HeldOut.of(columns, schema, target, holdout=holdout, seed=seed) for seed in range(fits)]
    main_measure = splits[0].measures[0]
    points = []
    with progress(desc="fitting", total=fits * (len(epsilon_grid) * len(methods) + 1)) as bar:

        def mean(method: str, epsilon: float, name: str) -> EpsilonPoint:
            scores_by_fit = []
            for seed, rows in enumerate(splits):
                scores_by_fit.append(rows.scores(method, epsilon=epsilon, delta=delta, seed=seed))
                bar.update()
            scores = [scores_of_fit[main_measure] for scores_of_fit in scores_by_fit]
            error = float(np.std(scores, ddof=1) / math.sqrt(fits))
            return EpsilonPoint(
                method=name,
                epsilon=epsilon,
                score=float(np.mean(scores)),
                error=error,
                others=_others(scores_by_fit, main_measure),
            )

        for method in methods:
            points += [mean(method, epsilon, method) for epsilon in epsilon_grid]
        without_privacy = mean("auto", math.inf, "without privacy")
    constant_scores = [rows.constant() for rows in splits]
    comparison = EpsilonComparison(
        title=f"{main_measure[0].upper()}{main_measure[1:]} against epsilon: {target}, delta {delta:g}",
        points=tuple(points),
        without_privacy=without_privacy,
        constant=EpsilonPoint(
            method=constant_name(schema[target]),
            epsilon=0.0,
            score=float(np.mean([scores_of_fit[main_measure] for scores_of_fit in constant_scores])),
            error=0.0,
            others=_others(constant_scores, main_measure),
        ),
        fits=fits,
        held=len(splits[0].labels),
        alarms=DECLARED_PUBLIC_ALARMS if data_are_public else NOT_PRIVATE_ALARMS,
        notes=() if data_are_public else CHOICE_NOTES,
        audience="public" if data_are_public else "internal",
        measure=main_measure,
    )
    if accuracy is None:
        return comparison
    return replace(comparison, answers=comparison.needed_epsilons(accuracy))


def _others(scores_by_fit: Sequence[Mapping[str, float]], main_measure: str) -> dict[str, float]:
    """The mean over fits of each measure but the main one."""
    return {
        name: float(np.mean([scores[name] for scores in scores_by_fit]))
        for name in scores_by_fit[0]
        if name != main_measure
    }


def _plain_point(point: EpsilonPoint) -> dict[str, Any]:
    """Plain data; what held-out rows cannot tell is null."""
    others = {name: None if math.isnan(value) else value for name, value in point.others.items()}
    return asdict(point) | {"others": others}


def _least_epsilon(
    method: str, points: Sequence[EpsilonPoint], accuracy: float, quantile: float
) -> NeededEpsilon:
    epsilons = np.array([point.epsilon for point in points])
    means = np.array([point.score for point in points])
    half_widths = quantile * np.array([point.error for point in points])
    reaching, may_reach = np.flatnonzero(means >= accuracy), means + half_widths >= accuracy
    return NeededEpsilon(
        method=method,
        accuracy=accuracy,
        tried=float(epsilons[reaching[0]]) if reaching.size else None,
        between=first_epsilon_reaching(epsilons, means, accuracy),
        low=first_epsilon_reaching(epsilons, means + half_widths, accuracy),
        high=first_epsilon_reaching(epsilons, means - half_widths, accuracy),
        lasting=not may_reach.any() or bool(may_reach[np.argmax(may_reach) :].all()),
    )


def first_epsilon_reaching(epsilons: Floats, values: Floats, goal: float) -> float | None:
    """The first epsilon at which a line through the points, on a logarithmic scale, is as high as asked.

    >>> first_epsilon_reaching(np.array([1.0, 100.0]), np.array([0.6, 0.8]), 0.7)
    10.0
    >>> first_epsilon_reaching(np.array([1.0, 100.0]), np.array([0.6, 0.8]), 0.9) is None
    True
    """
    reaching = np.flatnonzero(values >= goal)
    if not reaching.size:
        return None
    at = int(reaching[0])
    if at == 0:
        return float(epsilons[0])
    share = (goal - values[at - 1]) / (values[at] - values[at - 1])
    low, high = math.log(epsilons[at - 1]), math.log(epsilons[at])
    return float(f"{math.exp(low + share * (high - low)):.6g}")
