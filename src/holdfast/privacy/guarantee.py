"""Guarantee: a curve with everything that gives it a meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

from holdfast.errors import AdjacencyError, FormatError, require
from holdfast.noise.source import Provenance
from holdfast.privacy.adjacency import Adjacency, PrivacyUnit
from holdfast.privacy.curves.curve import PrivacyCurve
from holdfast.privacy.curves.stored import curve_from_json


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What is promised (curve), between which neighbours (adjacency), for whom (unit), and why (theorem).

    `noise` says whether it is a promise at all: noise from a seed can be computed again and protects nobody. The
    mark travels with the guarantee, through composition, files and texts.
    """

    curve: PrivacyCurve
    adjacency: Adjacency
    unit: PrivacyUnit
    theorem: str
    assumptions: tuple[str, ...] = ()
    noise: Provenance = "secure"

    def __post_init__(self) -> None:
        require(self.noise in get_args(Provenance), "noise", self.noise, "'secure' or 'seeded'")
        object.__setattr__(self, "adjacency", Adjacency.of(self.adjacency))
        object.__setattr__(self, "assumptions", tuple(self.assumptions))

    @property
    def private(self) -> bool:
        """Whether the noise can protect anybody."""
        return self.noise == "secure"

    def epsilon(self, delta: float) -> float:
        """The least epsilon that is proved at this delta."""
        return self.curve.epsilon(delta)

    def assuming(self, *assumptions: str) -> Guarantee:
        """The same promise, resting on more."""
        new = tuple(a for a in assumptions if a not in self.assumptions)
        return replace(self, assumptions=self.assumptions + new)

    def drawn_from(self, noise: Provenance) -> Guarantee:
        """The same promise, of which some noise came from there: once seeded, always seeded."""
        return self if noise == "secure" else replace(self, noise=noise)

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
        return (
            Guarantee(
                curve=ours.compose(theirs),
                adjacency=self.adjacency,
                unit=self.unit,
                theorem=self.theorem if self.theorem == other.theorem else f"{self.theorem}; {other.theorem}",
                assumptions=self.assumptions,
                noise=self.noise,
            )
            .assuming(*other.assumptions)
            .drawn_from(other.noise)
        )

    def summary(self) -> str:
        """A few lines that a statistician can read."""
        guess = self.curve.trade_off().guess()
        neighbours = {
            Adjacency.replace: "changing the data of",
            Adjacency.zero_out: "blanking the data of",
            Adjacency.add_remove: "adding or removing",
        }[self.adjacency]
        first = [] if self.private else ["NOT PRIVATE: drawn from a seed; with secure noise it would satisfy"]
        lines = [
            *first,
            f"{self.curve!r} for {neighbours} {self.unit.summary()} (adjacency {self.adjacency.value})",
            "  " + ", ".join(f"epsilon {self.epsilon(d):.4g} at delta {d:g}" for d in (1e-5, 1e-6, 1e-9)),
            f"  whoever was 50 % sure about one unit guesses right at most {100 * guess:.1f} % of the time",
            f"  proof: {self.theorem}",
        ]
        lines += [f"  assumes: {assumption}" for assumption in self.assumptions]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def to_json(self) -> dict[str, Any]:
        """Plain data; secure noise is not mentioned, as it never was."""
        return {
            "curve": self.curve.to_json(),
            "adjacency": self.adjacency.value,
            "unit": {"column": self.unit.column, "max_rows": self.unit.max_rows},
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
        } | ({} if self.private else {"noise": self.noise})

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
                noise=data.get("noise", "secure"),
            )
        except FormatError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError("a stored guarantee lacks a field or has one of the wrong kind") from error
