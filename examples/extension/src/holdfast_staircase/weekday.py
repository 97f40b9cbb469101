"""The day of the week of a date."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from holdfast.data import Categorical

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class Weekday(Categorical):
    """One of seven days, read from dates or from their names; anything else is "(none)".

    `read` sees one value at a time, as a number and as a text (dates as 2024-01-31), and gives what stands for it.
    """

    kind: ClassVar[str] = "weekday"
    categories: Sequence[str | int | bool] = DAYS
    other: str | None = "(none)"

    def read(self, number: float, text: str | None) -> str | None:
        """The day; a text that is no date stays what it is."""
        try:
            return DAYS[datetime.date.fromisoformat((text or "")[:10]).weekday()]
        except ValueError:
            return text
