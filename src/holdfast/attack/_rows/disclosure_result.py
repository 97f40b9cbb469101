"""DisclosureResult: how often a guess from released rows comes true for members, for a control group, and blindly.

What comes true as often for people who were not in the data is knowledge about the population. Only the rest is the
release's own doing: risk = (members - control) / (1 - control) (Giomi et al. 2023).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from holdfast._arguments import checked
from holdfast._extras import optional
from holdfast.attack._result import NOTICE
from holdfast.attack._roc import Rate
from holdfast.errors import ParameterError, require

DEPENDENT = "limits hold for people drawn independently given the rows; one release is one draw of its noise"


@checked
@dataclass(frozen=True, kw_only=True)
class DisclosureResult:
    """Successes of one kind of attack: counts of attacks made and of those that came true.

    >>> found = DisclosureResult(attack="linkability", members=(60, 100), control=(20, 100), blind=(10, 100))
    >>> round(found.risk, 3), [round(limit, 3) for limit in found.limits]
    (0.5, [0.256, 0.67])
    """

    attack: str
    members: tuple[int, int]
    """Successes and attacks."""
    control: tuple[int, int]
    blind: tuple[int, int]
    """Against the members, without the released rows."""
    confidence: float = 0.95
    seconds: float = 0.0
    audience: ClassVar[Literal["internal"]] = "internal"

    def __post_init__(self) -> None:
        for name in ("members", "control", "blind"):
            successes, attacks = getattr(self, name)
            require(
                0 <= successes <= attacks and attacks >= 1, name, (successes, attacks), "successes of attacks"
            )
        require(0 < self.confidence < 1, "confidence", self.confidence, "in (0, 1)")

    def rate(self, group: Literal["members", "control", "blind"], *, confidence: float | None = None) -> Rate:
        """The share of attacks that came true, with Clopper-Pearson limits."""
        successes, attacks = getattr(self, group)
        return Rate.of(successes, attacks, confidence=self.confidence if confidence is None else confidence)

    @property
    def risk(self) -> float:
        """What members have beyond the control group, of what was left to gain; below 0 by chance."""
        return _beyond(float(self.rate("members")), float(self.rate("control")))

    @property
    def limits(self) -> tuple[float, float]:
        """Of the risk: both rates at once, each with half of the error."""
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


def _beyond(members: float, control: float) -> float:
    return (members - control) / max(1.0 - control, 1e-12)


@checked
@dataclass(frozen=True, kw_only=True)
class DisclosureReport:
    """Singling out, linking and inferring, side by side. Internal, as its parts are."""

    results: tuple[DisclosureResult, ...]
    notes: Mapping[str, str] = field(default_factory=dict)
    """Whose word it is that an attack sees no answers, for those that are none of holdfast's."""
    audience: ClassVar[Literal["internal"]] = "internal"

    def __post_init__(self) -> None:
        require(len(self.results) >= 1, "results", len(self.results), "one or more")

    def __iter__(self) -> Iterator[DisclosureResult]:
        return iter(self.results)

    def __getitem__(self, attack: str) -> DisclosureResult:
        for result in self.results:
            if result.attack == attack:
                return result
        known = ", ".join(result.attack for result in self.results)
        raise ParameterError(f"there is no result of the attack {attack!r}: {known} were made")

    def summary(self) -> str:
        """One line per attack, and how to read it."""
        lines = [
            "disclosure by released rows: attacks on members, and on people who were not in the data (control)"
        ]
        lines += [f"  {result.summary()}" for result in self.results]
        beyond = [result.attack for result in self.results if result.limits[0] > 0]
        lines.append(
            f"  beyond the control group: {', '.join(beyond)}"
            if beyond
            else "  no attack does better on members than on the control group, as far as these people can tell"
        )
        lines += [f"  {name}: {note}" for name, note in self.notes.items()]
        return "\n".join([*lines, f"  {DEPENDENT}", f"  {NOTICE}"])

    def plot(self) -> Any:
        """For each attack the three rates, with limits (a matplotlib figure)."""
        plt = optional("matplotlib.pyplot", instead="summary()")
        figure, axes = plt.subplots(figsize=(7.2, 1.4 + 0.5 * len(self.results)), layout="constrained")
        looks = {"members": ("#0072b2", "o"), "control": ("#e69f00", "D"), "blind": ("#5b6875", "x")}
        for place, result in enumerate(reversed(self.results)):
            for shift, (group, (colour, marker)) in enumerate(looks.items()):
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
        axes.set_yticks(range(len(self.results)), [result.attack for result in reversed(self.results)])
        axes.set(xlim=(-0.02, 1.02), xlabel="share of attacks that come true")
        axes.set_title("What the rows give away beyond the population (internal)", loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=8.5)
        axes.spines[["top", "right"]].set_visible(False)
        return figure

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        return {
            "audience": self.audience,
            "attacks": [result.to_json() for result in self.results],
            "notes": dict(self.notes),
        }
