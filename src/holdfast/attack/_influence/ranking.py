"""InvertibilityReport: columns ranked by how much a model helps to guess them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from holdfast._arguments import checked
from holdfast._extras import import_optional
from holdfast.attack._influence.columns import Column
from holdfast.attack._influence.finite_domain import mean_limits
from holdfast.attack._influence.two_worlds import Advantage
from holdfast.attack._report import NOTICE
from holdfast.errors import ParameterError

NOT_LIMITED = "epsilon does not limit this: it bounds what a model says about its training data, no more"


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnInvertibility:
    """One column: its influence on what is shown, and how often it is guessed with the model and without."""

    column: Column
    labels: tuple[str, ...]
    influence: float
    people: int
    advantage: Advantage
    confidence: float

    @property
    def influence_limits(self) -> tuple[float, float]:
        """Hoeffding's limits, for people drawn independently given the model."""
        return mean_limits(self.influence, self.people, error=1.0 - self.confidence)

    def to_json(self) -> dict[str, Any]:
        """The figures, without anybody's guess."""
        gain, blind = self.advantage.gain, self.advantage.simulated_gain
        return {
            "column": self.column,
            "values": len(self.labels),
            "people": self.people,
            "influence": {"value": self.influence, "limits": list(self.influence_limits)},
            "guessed": {"value": float(gain), "limits": [gain.low, gain.high]},
            "guessed_without": {"value": float(blind), "limits": [blind.low, blind.high]},
            "advantage": {"value": self.advantage.value, "limits": list(self.advantage.limits)},
        }


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class InvertibilityReport:
    """The columns, the most exposed first. Computed from real people without noise: internal.

    Parameters
    ----------
    columns : tuple
        For each column its influence on the answers, and how often it is guessed with the model and without.
    shows : str or float
        What the public sees of an answer: "scores", "decision", or the step that scores are rounded to.
    knowledge : float
        The chance that the attacker has a further column right.
    confidence : float
        With which all limits of the report hold together.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.attack import Target, invertibility
    >>> people = np.random.default_rng(0).integers(0, 2, size=(400, 2)).astype(float)
    >>> model = Target.of(lambda X: 0.2 + 0.6 * X[:, 0], classes=["no", "yes"])
    >>> report = invertibility(model, people, random_state=0)
    >>> report.columns[0].column, len(report), report.audience
    (0, 2, 'internal')
    """

    columns: tuple[ColumnInvertibility, ...]
    shows: float | str
    knowledge: float
    confidence: float
    audience: ClassVar[Literal["internal"]] = "internal"

    def __iter__(self) -> Iterator[ColumnInvertibility]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, column: Column) -> ColumnInvertibility:
        for entry in self.columns:
            if entry.column == column:
                return entry
        known = ", ".join(str(entry.column) for entry in self.columns)
        raise ParameterError(f"there is no column {column!r}: {known} were judged")

    def table(self) -> str:
        """One line per column."""
        lines = [
            f"  {'column':<22}{'values':>7}{'influence':>24}{'guessed':>9}{'without':>9}{'advantage':>27}"
        ]
        for entry in self.columns:
            low, high = entry.influence_limits
            influence_text = f"{entry.influence:.3f} [{low:.3f}, {high:.3f}]"
            least, most = entry.advantage.limits
            advantage_text = f"{entry.advantage.value:+.3f} [{least:+.3f}, {most:+.3f}]"
            lines.append(
                f"  {entry.column!s:<22.22}{len(entry.labels):>7}{influence_text:>24}"
                f"{float(entry.advantage.gain):>9.3f}{float(entry.advantage.simulated_gain):>9.3f}{advantage_text:>27}"
            )
        return "\n".join(lines)

    def summary(self) -> str:
        """The table, and what it means."""
        shown = self.shows if isinstance(self.shows, str) else f"scores rounded to {self.shows:g}"
        head = (
            f"invertibility: {self.columns[0].people} people, the model shows {shown}, others know each further column "
            f"with probability {self.knowledge:g}; limits hold together at {100 * self.confidence:g} %"
        )
        first = self.columns[0]
        surest = next((entry for entry in self.columns if entry.advantage.limits[0] > 0), None)
        conclusion = (
            "no column is guessed better with the model than without, as far as these people can tell"
            if surest is None
            else f"{first.column!s} is the column that the model gives away most"
        )
        return "\n".join([head, self.table(), f"  {conclusion}", f"  {NOT_LIMITED}", f"  {NOTICE}"])

    def plot(self) -> Any:
        """For each column how often it is guessed, without the model and with it (a matplotlib figure)."""
        plt = import_optional("matplotlib.pyplot", instead="summary()")
        figure, axes = plt.subplots(figsize=(7.2, 1.2 + 0.34 * len(self.columns)), layout="constrained")
        for place, entry in enumerate(reversed(self.columns)):
            blind, gain = entry.advantage.simulated_gain, entry.advantage.gain
            axes.plot([blind, gain], [place, place], color="#9aa5b1", linewidth=2.5, zorder=1)
            axes.errorbar(
                gain,
                place,
                xerr=[[gain - gain.low], [gain.high - gain]],
                color="#0072b2",
                fmt="o",
                markersize=6,
                capsize=2,
                label="with what the model shows" if place == 0 else None,
            )
            axes.plot(
                blind,
                place,
                color="#e69f00",
                marker="D",
                linestyle="none",
                markersize=5.5,
                label="without the model" if place == 0 else None,
            )
        axes.set_yticks(range(len(self.columns)), [str(entry.column) for entry in reversed(self.columns)])
        axes.set(xlim=(0, 1.02), xlabel="share of people whose value is guessed")
        axes.set_title("What the model gives away, column by column (internal)", loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=8.5, loc="lower right")
        axes.spines[["top", "right"]].set_visible(False)
        return figure

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        return {
            "audience": self.audience,
            "shows": self.shows,
            "knowledge": self.knowledge,
            "confidence": self.confidence,
            "columns": [entry.to_json() for entry in self.columns],
            "note": NOT_LIMITED,
        }
