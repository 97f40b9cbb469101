"""DisclosureResult: how often a guess from released rows comes true for members, for a control group, and blindly.

A guess that comes true as often for people who were not in the data is knowledge about the population. Only the excess
is a risk of the release: risk = (members - control) / (1 - control) (Giomi et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from holdfast._arguments import checked
from holdfast._extras import import_optional
from holdfast.attack._proof import Proof, Verdict
from holdfast.attack._report import NOTICE, AttackReport, AttackResult
from holdfast.attack._roc import Rate
from holdfast.errors import require

DEPENDENT = "limits hold for people drawn independently given the rows; one release is one draw of its noise"


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class DisclosureResult(AttackResult):
    """Successes of one kind of attack: counts of attacks made and of those that came true.

    Parameters
    ----------
    attack : str
        What was tried.
    members, control, blind : tuple of int
        Successes and attacks: on people in the data, on people who were not, and on members without the released rows.
    confidence : float
        Of its limits.
    seconds : float
        How long it took.

    Examples
    --------
    >>> result = DisclosureResult(attack="linkability", members=(60, 100), control=(20, 100), blind=(10, 100))
    >>> round(result.risk, 3), [round(limit, 3) for limit in result.limits]
    (0.5, [0.256, 0.67])
    """

    members: tuple[int, int]
    control: tuple[int, int]
    blind: tuple[int, int]

    def __post_init__(self) -> None:
        for name in ("members", "control", "blind"):
            successes, attacks = getattr(self, name)
            require(
                0 <= successes <= attacks and attacks >= 1, name, (successes, attacks), "successes of attacks"
            )
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")

    def rate(self, group: Literal["members", "control", "blind"], *, confidence: float | None = None) -> Rate:
        """The share of attacks that came true, with Clopper-Pearson limits.

        Parameters
        ----------
        group : str
            "members", "control" or "blind".
        confidence : float, optional
            Of the limits; by default that of the result.
        """
        successes, attacks = getattr(self, group)
        return Rate.of(successes, attacks, confidence=self.confidence if confidence is None else confidence)

    @property
    def risk(self) -> float:
        """What members have beyond the control group, of what was left to gain; below 0 by chance."""
        return _beyond(float(self.rate("members")), float(self.rate("control")))

    @property
    def limits(self) -> tuple[float, float]:
        """The limits of the risk, which hold for both rates at once, each with half of the error."""
        half = 1.0 - (1.0 - self.confidence) / 2.0
        members, control = (self.rate(group, confidence=half) for group in ("members", "control"))
        return _beyond(members.low, control.high), _beyond(members.high, control.low)

    def summary(self) -> str:
        """One line."""
        low, high = self.limits
        return (
            f"{self.attack}: members {self.rate('members').summary()}, control {self.rate('control').summary()}, blind "
            f"{float(self.rate('blind')):.3f}, risk {self.risk:+.3f} [{low:+.3f}, {high:+.3f}]"
        )

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        return {
            "attack": self.attack,
            "audience": self.audience,
            "members": list(self.members),
            "control": list(self.control),
            "blind": list(self.blind),
            "risk": {"value": self.risk, "low": self.limits[0], "high": self.limits[1]},
            "confidence": self.confidence,
            "seconds": self.seconds,
        }

    def verdict(self, claim: Proof | None = None, /) -> Verdict:
        """`unclaimed`, whatever the claim: a promise bounds how well members are told from others, not this risk."""
        return "unclaimed"

    def strength(self) -> tuple[float, ...]:
        """The lower limit of the risk, then the risk."""
        return self.limits[0], self.risk

    # Several results in one report.
    @classmethod
    def table_of(cls, report: AttackReport[DisclosureResult]) -> str:
        """One line for each result of the report."""
        return "\n".join(f"  {result.summary()}" for result in report)

    @classmethod
    def summary_of(cls, report: AttackReport[DisclosureResult]) -> str:
        """One line for each result of the report, and how to read it."""
        beyond = [result.attack for result in report if result.limits[0] > 0]
        lines = [
            "disclosure by released rows: attacks on members, and on people who were not in the data (control)",
            report.table(),
            f"  beyond the control group: {', '.join(beyond)}"
            if beyond
            else "  no attack does better on members than on the control group, as far as these people can tell",
            *(f"  not made: {name} ({why})" for name, why in report.skipped.items()),
            *(f"  {name}: {note}" for name, note in report.notes.items()),
        ]
        return "\n".join([*lines, f"  {DEPENDENT}", f"  {NOTICE}"])

    @classmethod
    def figure_of(cls, report: AttackReport[DisclosureResult]) -> Any:
        """For each result of the report the three rates, with limits (a matplotlib figure)."""
        plt = import_optional("matplotlib.pyplot", instead="summary()")
        figure, axes = plt.subplots(figsize=(7.2, 1.4 + 0.5 * len(report.results)), layout="constrained")
        group_styles = {"members": ("#0072b2", "o"), "control": ("#e69f00", "D"), "blind": ("#5b6875", "x")}
        for place, result in enumerate(reversed(report.results)):
            for shift, (group, (colour, marker)) in enumerate(group_styles.items()):
                rate = result.rate(group)  # type: ignore[arg-type]
                axes.errorbar(
                    rate,
                    place + 0.18 - 0.18 * shift,
                    xerr=[[rate - rate.low], [rate.high - rate]],
                    color=colour,
                    fmt=marker,
                    markersize=5,
                    capsize=2,
                    label=group if place == 0 else None,
                )
        axes.set_yticks(range(len(report.results)), [result.attack for result in reversed(report.results)])
        axes.set(xlim=(-0.02, 1.02), xlabel="share of attacks that come true")
        axes.set_title("What the rows give away beyond the population (internal)", loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=8.5)
        axes.spines[["top", "right"]].set_visible(False)
        return figure


def _beyond(members: float, control: float) -> float:
    return (members - control) / max(1.0 - control, 1e-12)
