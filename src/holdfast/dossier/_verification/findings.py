"""What a verification found: what holds, what does not, and what could not be checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import holdfast
from holdfast._arguments import checked

if TYPE_CHECKING:
    pass


Verdict = Literal["ok", "wrong", "not judged"]


@checked
@dataclass(frozen=True, kw_only=True)
class DossierVerification:
    """What was checked, what does not hold, and what could not be checked.

    `verify_dossier` makes one.

    Parameters
    ----------
    checked : tuple of str
        What was checked, and holds.
    problems : tuple of str
        What does not hold.
    skipped : tuple of str
        What could not be checked with what was given.
    recomputed : tuple of str
        What epsilon the recorded mechanisms give today, where that was asked for.
    judge : str
        The version of holdfast that made the page and can judge it, where that is another one; else empty.

    Examples
    --------
    >>> DossierVerification(checked=("the seal",), skipped=("the ledger (give --ledger)",)).verdict
    'not judged'
    """

    checked: tuple[str, ...]
    problems: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    recomputed: tuple[str, ...] = ()
    judge: str = ""

    @property
    def verdict(self) -> Verdict:
        """Wrong where something does not hold; not judged where something that a judgement needs was not checked."""
        return "wrong" if self.problems else "not judged" if self.judge or self.skipped else "ok"

    @property
    def ok(self) -> bool:
        """Whether everything was checked and holds."""
        return self.verdict == "ok"

    @property
    def exit_code(self) -> int:
        """0 for ok, 1 for wrong, 3 for not judged."""
        return {"ok": 0, "wrong": 1, "not judged": 3}[self.verdict]

    def first_line(self) -> str:
        """The verdict, and what it takes to come to one where there is none."""
        if self.problems:
            return f"WRONG: {self.problems[0]}"
        if self.judge:
            return (
                f"NOT JUDGED: holdfast {self.judge} can judge this page, which names it as its maker; "
                f"this is holdfast {holdfast.__version__}"
            )
        if self.skipped:
            return f"NOT JUDGED: not everything could be checked: {self.skipped[0]}"
        return "OK: everything was checked, and holds"

    def summary(self) -> str:
        """The verdict, then one line a check."""
        lines = [self.first_line()]
        lines += [f"ok: {text}" for text in self.checked]
        lines += list(self.recomputed)
        lines += [f"not checked: {text}" for text in self.skipped]
        lines += [f"PROBLEM: {text}" for text in self.problems]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "ok": self.ok,
            "verdict": self.verdict,
            "judge": self.judge,
            "checked": list(self.checked),
            "problems": list(self.problems),
            "skipped": list(self.skipped),
            "recomputed": list(self.recomputed),
        }


@dataclass
class Findings:
    """Collects what was found."""

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    recomputed: list[str] = field(default_factory=list)
    judge: str = ""

    def hold(self, holds: bool, success: str, problem: str) -> bool:
        """Note one check; returns whether it held."""
        (self.checked if holds else self.problems).append(success if holds else problem)
        return holds

    def result(self) -> DossierVerification:
        """What was found, in full."""
        return DossierVerification(
            checked=tuple(self.checked),
            problems=tuple(self.problems),
            skipped=tuple(self.skipped),
            recomputed=tuple(self.recomputed),
            judge=self.judge,
        )
