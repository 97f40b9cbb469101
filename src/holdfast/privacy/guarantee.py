"""Guarantee: a curve with everything that gives it a meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from holdfast.errors import AdjacencyError, FormatError
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.curves.stored import curve_from_json


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is promised (curve), between which neighbours (adjacency), for whom (unit), and why (theorem)."""

    curve: PrivacyCurve
    adjacency: Adjacency
    unit: PrivacyUnit
    theorem: str
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved at this delta."""
        return self.curve.epsilon(delta)

    def assuming(self, *assumptions: str) -> Guarantee:
        """The same promise, resting on more."""
        new = tuple(a for a in assumptions if a not in self.assumptions)
        return replace(self, assumptions=self.assumptions + new)

    def compose(self, other: Guarantee) -> Guarantee:
        """Both releases together, if they speak of the same neighbours and units."""
        if (self.adjacency, self.unit) != (other.adjacency, other.unit):
            raise AdjacencyError(
                f"a guarantee for {self.adjacency.value!r} of {self.unit.summary()} cannot be composed with one "
                f"for {other.adjacency.value!r} of {other.unit.summary()}; re-derive one of them"
            )
        ours, theirs = self.curve, other.curve
        if self.adjacency is Adjacency.replace:  # neighbours without a direction (soundness, section 21)
            ours, theirs = ours.either_way(), theirs.either_way()
        return Guarantee(
            curve=ours.compose(theirs),
            adjacency=self.adjacency,
            unit=self.unit,
            theorem=self.theorem if self.theorem == other.theorem else f"{self.theorem}; {other.theorem}",
            assumptions=self.assumptions,
        ).assuming(*other.assumptions)

    def summary(self) -> str:
        """A few lines that a statistician can read."""
        guess = self.curve.trade_off().guess()
        neighbours = {
            Adjacency.replace: "changing the data of",
            Adjacency.zero_out: "blanking the data of",
            Adjacency.add_remove: "adding or removing",
        }[self.adjacency]
        lines = [
            f"{self.curve!r} for {neighbours} {self.unit.summary()} (adjacency {self.adjacency.value})",
            "  " + ", ".join(f"epsilon {self.epsilon(d):.4g} at delta {d:g}" for d in (1e-5, 1e-6, 1e-9)),
            f"  whoever was 50 % sure about one unit guesses right at most {100 * guess:.1f} % of the time",
            f"  proof: {self.theorem}",
        ]
        lines += [f"  assumes: {assumption}" for assumption in self.assumptions]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "curve": self.curve.to_json(),
            "adjacency": self.adjacency.value,
            "unit": {"column": self.unit.column, "max_rows": self.unit.max_rows},
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
        }

    @classmethod
    def from_json(cls, data: Any) -> Guarantee:
        """The guarantee that `to_json` wrote; `FormatError` for anything else."""
        try:
            return cls(
                curve=curve_from_json(data["curve"]),
                adjacency=Adjacency(data["adjacency"]),
                unit=PrivacyUnit(data["unit"]["column"], data["unit"]["max_rows"]),
                theorem=str(data["theorem"]),
                assumptions=tuple(str(a) for a in data["assumptions"]),
            )
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("a stored guarantee lacks a field or has one of the wrong kind") from error
