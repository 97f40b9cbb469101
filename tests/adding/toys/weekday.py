"""The day of the week of a date."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast.data._schema.columns import Categorical

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class Weekday(Categorical):
    """One of seven days, read from dates or from their names; anything else is "(none)"."""

    kind: ClassVar[str] = "weekday"
    tried_with: ClassVar[Sequence[Mapping[str, Any]]] = ({}, {"null": "(missing)"})
    categories: Sequence[str | int | bool] = DAYS
    other: str | None = "(none)"

    def read(self, number: float, text: str | None) -> str | None:
        """The day; a text that is no date stays what it is."""
        try:
            return DAYS[datetime.date.fromisoformat((text or "")[:10]).weekday()]
        except ValueError:
            return text
