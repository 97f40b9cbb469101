"""publishing_options(): ways to publish a model, and for each how well a sensitive column is guessed and at what loss.

The options: the scores as they are, rounded, or decisions only; the column merged into fewer groups, or dropped.
Merging and dropping average the model over the values that are no longer distinguished, or train it again where the
training function is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast._arrays import Codes, Floats
from holdfast._extras import import_optional
from holdfast._ranges import as_labels
from holdfast.attack._influence.columns import Column, Domain, column_of, with_column
from holdfast.attack._influence.invertibility import column_invertibility
from holdfast.attack._influence.judged_people import count_of, read_people, select_people, split_people
from holdfast.attack._influence.prior import cells_among
from holdfast.attack._influence.ranking import NOT_LIMITED, ColumnInvertibility
from holdfast.attack._influence.shown_answers import (
    ShownForm,
    answers_by_value,
    require_form,
    shown_answers,
)
from holdfast.attack._models.target import Target
from holdfast.attack._records import Records, arrow_of
from holdfast.attack._report import NOTICE
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import require

ROUNDING_STEPS = (0.01, 0.1)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishingOption:
    """One way to publish: how well the column is guessed, and how good the model still is."""

    name: str
    invertibility: ColumnInvertibility
    right: float
    """Share of right decisions; for numbers R^2."""
    loss: float
    """Log loss of what is shown (certain decisions cost 0.01 each way); for numbers the mean squared error."""

    def to_json(self) -> dict[str, Any]:
        """The figures, as plain data."""
        return {"option": self.name, "right": self.right, "loss": self.loss, **self.invertibility.to_json()}


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Retraining:
    """How a model is trained again on data in which values of a column are merged.

    Parameters
    ----------
    train : callable
        From features and labels to a model, or to what `Target.of` makes of one.
    features : array, data frame or table
        The data to train on.
    labels : array
        What is to be predicted of them.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> again = Retraining(train=LogisticRegression().fit, features=[[0.0], [1.0]], labels=[0, 1])
    >>> again.model_of(lambda rows: np.asarray(rows)).task
    'classification'
    """

    train: Callable[[Any, Any], Any]
    features: Any
    labels: Any

    def model_of(self, coarse: Callable[[Any], Any], *, classes: Sequence[Any] | None = None) -> Target:
        """The model of the data that this makes of the features.

        Parameters
        ----------
        coarse : callable
            From features to the same ones with values merged.
        classes : sequence, optional
            The labels, where the model is a callable that gives probabilities.
        """
        return Target.of(self.train(coarse(self.features), self.labels), classes=classes)


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class PublishingOptions:
    """The options in the order of how much they show. Computed from real people without noise: internal.

    Parameters
    ----------
    options : tuple
        For each way to publish how well the column is guessed, and how good the model still is.
    column : str or int
        The sensitive column.
    task : {'classification', 'regression'}
        What the model predicts.

    Examples
    --------
    >>> from holdfast.attack import publishing_options
    >>> draw = np.random.default_rng(0)
    >>> people = draw.integers(0, 4, size=(400, 2)).astype(float)
    >>> model = Target.of(lambda X: 0.1 + 0.2 * X[:, 0], classes=[0, 1])
    >>> options = publishing_options(model, people, draw.integers(0, 2, 400), sensitive=0, steps=[0.5], random_state=0)
    >>> [option.name for option in options]
    ['scores', 'scores to 0.5', 'decisions only', '0 in 2 groups', '0 dropped']
    """

    options: tuple[PublishingOption, ...]
    column: Column
    task: str
    audience: ClassVar[Literal["internal"]] = "internal"

    def __iter__(self) -> Iterator[PublishingOption]:
        return iter(self.options)

    def __getitem__(self, name: str) -> PublishingOption:
        known = {option.name: option for option in self.options}
        require(name in known, "option", name, f"one of {', '.join(known)}")
        return known[name]

    def table(self) -> str:
        """One line per option."""
        right, loss = ("right", "log loss") if self.task == "classification" else ("R^2", "squared error")
        lines = [f"  {'published':<34}{'guessed':>9}{'without':>9}{'advantage':>27}{right:>8}{loss:>15}"]
        for option in self.options:
            advantage = option.invertibility.advantage
            low, high = advantage.limits
            advantage_text = f"{advantage.value:+.3f} [{low:+.3f}, {high:+.3f}]"
            lines.append(
                f"  {option.name:<34.34}{float(advantage.gain):>9.3f}{float(advantage.simulated_gain):>9.3f}"
                f"{advantage_text:>27}{option.right:>8.3f}{option.loss:>15.4g}"
            )
        return "\n".join(lines)

    def summary(self) -> str:
        """The table, and what the first step buys."""
        full = self.options[0]
        least = min(self.options, key=lambda option: option.invertibility.advantage.value)
        conclusion = (
            f"as it is, the model helps to guess {self.column!s} by {full.invertibility.advantage.value:+.3f}; "
            f"'{least.name}' leaves {least.invertibility.advantage.value:+.3f} for {full.right - least.right:+.4f} of "
            f"quality lost"
        )
        head = f"before publishing: what others learn about {self.column!s}, {full.invertibility.people} people judged"
        return "\n".join([head, self.table(), f"  {conclusion}", f"  {NOT_LIMITED}", f"  {NOTICE}"])

    def plot(self) -> Any:
        """Advantage against loss, one point per option (a matplotlib figure)."""
        plt = import_optional("matplotlib.pyplot", instead="summary()")
        figure, axes = plt.subplots(figsize=(7.4, 4.4), layout="constrained")
        for place, option in enumerate(self.options):
            value, (low, high) = option.invertibility.advantage.value, option.invertibility.advantage.limits
            axes.errorbar(
                option.loss,
                value,
                yerr=[[value - low], [high - value]],
                fmt="o",
                color="#0072b2",
                capsize=2,
                markersize=5,
            )
            side = 1 if place % 2 == 0 else -1
            axes.annotate(
                option.name,
                (option.loss, value),
                xytext=(7, 7 * side),
                textcoords="offset points",
                fontsize=8.5,
            )
        axes.axhline(0.0, color="#9aa5b1", linewidth=1)
        loss = "log loss" if self.task == "classification" else "mean squared error"
        axes.set(
            xlabel=f"{loss} of what is published (lower is better)",
            ylabel=f"advantage in guessing {self.column!s}",
        )
        axes.set_title("What showing less buys and costs (internal)", loc="left", fontsize=10)
        axes.margins(x=0.18)
        axes.spines[["top", "right"]].set_visible(False)
        return figure

    def to_json(self) -> dict[str, Any]:
        """The figures, as plain data."""
        options = [option.to_json() for option in self.options]
        return {"audience": self.audience, "column": self.column, "options": options, "note": NOT_LIMITED}


@checked
def publishing_options(
    model: Any,
    people: Any,
    labels: Any,
    *,
    sensitive: Column,
    steps: Sequence[float] = ROUNDING_STEPS,
    reference: Any = None,
    schema: Schema | None = None,
    retraining: Retraining | None = None,
    confidence: float = 0.95,
    random_state: Seed | None = None,
) -> PublishingOptions:
    """What rounding, withholding, merging or dropping buys against guesses of `sensitive`, and what it costs.

    Parameters
    ----------
    model : object
        What would be published: an estimator, a callable that predicts numbers, a release, or what `Target.of` makes of
        a callable that gives probabilities.
    people : table
        Features that the model was not trained on.
    labels : array or str
        The true answers; or the name of a column of a holdfast `Table` or of a frame.
    sensitive : str or int
        The column to guess.
    steps : sequence of float
        The roundings to try.
    reference : table, optional
        Other people, the attacker's own; by default a random half of `people`.
    schema : Schema, optional
        The values of columns; without it those that occur are taken, and fifths of numbers.
    retraining : Retraining, optional
        How the coarser models are trained again. Without it the model that is there is averaged over the values that
        are no longer told apart, by how common they are among the attacker's own people; a published average must take
        these shares from public knowledge.
    confidence : float
        Of all limits.
    random_state : int, optional
        Of who is judged.

    Returns
    -------
    PublishingOptions
        One for each way to publish, in the order of how much it shows.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> X = np.column_stack([draw.integers(0, 4, 900), draw.normal(size=900)])
    >>> odds = X[:, 0] - 1.5 + X[:, 1]
    >>> y = (odds + draw.logistic(size=900) > 0).astype(int)
    >>> model = Target.of(lambda X: 1 / (1 + np.exp(1.5 - X[:, 0] - X[:, 1])), classes=[0, 1])
    >>> options = publishing_options(model, X, y, sensitive=0, random_state=0)
    >>> [option.name for option in options]
    ['scores', 'scores to 0.01', 'scores to 0.1', 'decisions only', '0 in 2 groups', '0 dropped']
    >>> exposure = {option.name: option.invertibility.advantage.value for option in options}
    >>> exposure["scores"] > exposure["decisions only"] > -0.05
    True
    """
    if schema is not None:
        schema.require_confirmed()
    target = Target.of(model)
    random = np.random.default_rng(random_state)
    answers = labels_of(people, labels)
    people, schema = read_people(people, target, schema)
    reference = None if reference is None else read_people(reference, target, schema)[0]
    require(answers.shape == (count_of(people),), "labels", answers.shape, "one for each of the people")
    judged, own, places = _judged_people(people, reference, random)
    truth = answers[places]
    domain = Domain.of(judged, sensitive, schema)
    require(domain.size >= 2, "sensitive", sensitive, "a column of two values or more")
    forms: list[tuple[str, Target, ShownForm]] = [("scores", target, "scores")]
    forms += [(f"scores to {step:g}", target, float(step)) for step in steps]
    if target.task == "classification":
        forms.append(("decisions only", target, "decision"))
    outputs = answers_by_value(lambda features: shown_answers(target, "scores", features), judged, domain)
    for name, groups in _mergers(sensitive, domain, outputs):
        if retraining is None:
            merged = _averaged_model(target, domain, groups, own, schema)
        else:
            merged = _retrained_model(retraining, domain, groups, schema, target.classes or None)
        forms.append((name, merged, "scores"))
    options = []
    for name, published, form in forms:
        require_form(published, form)
        exposure = column_invertibility(
            published, form, judged, own, domain, schema=schema, confidence=confidence, random=random
        )
        right, loss = quality(published, shown_answers(published, form, judged), truth)
        options.append(PublishingOption(name=name, invertibility=exposure, right=right, loss=loss))
    return PublishingOptions(options=tuple(options), column=sensitive, task=target.task)


def labels_of(people: Any, labels: Any) -> NDArray[Any]:
    """The true answers: as they are given, or the column of the people with this name."""
    if not isinstance(labels, str):
        return as_labels("labels", labels)
    if isinstance(people, Table):
        require(labels in people.schema.names, "labels", labels, f"one of {', '.join(people.schema.names)}")
        return np.asarray(arrow_of(people)[0][labels].to_pylist())
    return column_of(people, labels)


def _judged_people(
    people: Any, reference: Any, random: np.random.Generator
) -> tuple[Any, Any, NDArray[np.intp]]:
    """The people who are judged, the attacker's own, and the row numbers of the judged."""
    count = count_of(people)
    if reference is not None:
        return people, reference, np.arange(count)
    order, _ = split_people(np.arange(count)[:, None], None, random)
    places = np.sort(order[:, 0])
    own = np.setdiff1d(np.arange(count), places)
    return select_people(people, places), select_people(people, own), places


def _mergers(name: Column, domain: Domain, outputs: Floats) -> list[tuple[str, Codes]]:
    """Names and groups of the values of a column: pairs of values with similar answers, and one group for all."""
    ranks = np.argsort(np.argsort(outputs.mean(axis=(0,))[:, -1], kind="stable"), kind="stable")
    half = -(-domain.size // 2)
    pairs = [] if half < 2 else [(f"{name} in {half} groups", ranks // 2)]
    return [*pairs, (f"{name} dropped", np.zeros(domain.size, dtype=np.int64))]


def _averaged_model(target: Target, domain: Domain, groups: Codes, own: Any, schema: Schema | None) -> Target:
    """A model that only tells the groups of values apart: its answers are averaged over the values of a group."""
    codes = cells_among(own, domain, schema)
    shares = np.bincount(codes[codes >= 0], minlength=domain.size)[: domain.size] + 0.5

    def outputs(features: Any) -> Floats:
        answers = [np.asarray(target.outputs(with_column(features, domain.name, v))) for v in domain.values]
        own_group = groups[cells_among(features, domain, schema)]
        total = np.zeros_like(answers[0], dtype=np.float64)
        for group in np.unique(groups):
            inside = np.flatnonzero(groups == group)
            weights = shares[inside] / shares[inside].sum()
            mean = sum(weight * answers[value] for weight, value in zip(weights, inside, strict=True))
            chosen = own_group == group
            total[chosen] = np.asarray(mean)[chosen]
        return total

    return replace(target, outputs=outputs, model=None)


def _retrained_model(
    retraining: Retraining,
    domain: Domain,
    groups: Codes,
    schema: Schema | None,
    classes: Sequence[Any] | None,
) -> Target:
    """A model trained again on data in which every value is replaced by the first value of its group."""
    first = {group: int(np.flatnonzero(groups == group)[0]) for group in np.unique(groups).tolist()}

    def coarse(rows: Any) -> Any:
        codes = groups[cells_among(rows, domain, schema)]
        values = np.array([domain.values[first[int(code)]] for code in codes])
        return with_column(rows, domain.name, values)

    again = retraining.model_of(coarse, classes=classes)
    return replace(again, outputs=lambda rows: again.outputs(coarse(rows)), model=None)


def quality(target: Target, shown: Floats, truth: NDArray[Any]) -> tuple[float, float]:
    """How good the answers shown are: the share of right decisions and the log loss, or R^2 and the squared error."""
    if target.task == "regression":
        error = float(np.mean((shown[:, 0] - truth.astype(np.float64)) ** 2))
        return 1.0 - error / max(float(np.var(truth.astype(np.float64))), 1e-12), error
    records = Records(features=np.zeros((len(truth), 1)), labels=truth)
    own = target.label_columns(records)
    rows = np.arange(len(truth))
    probabilities = np.clip(shown, 0.01, 0.99)
    return float(np.mean(np.argmax(shown, axis=1) == own)), float(-np.mean(np.log(probabilities[rows, own])))
