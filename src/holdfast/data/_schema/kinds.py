"""Every kind of column, by its name in files: holdfast's own, and those that installed packages register."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from holdfast._arguments import checked
from holdfast._extensions import Registry
from holdfast.data._schema.columns import Categorical, Numeric, check_name
from holdfast.data._schema.dates import DateTime
from holdfast.data._schema.hierarchy import Hierarchy


@checked
@dataclass(frozen=True)
class Identifier:
    """A column that says whose row it is. It may order and group rows; it is never encoded or released.

    Parameters
    ----------
    name : str
        The name of the column.

    Examples
    --------
    >>> Identifier("patient").describe()
    'patient: identifier, never encoded or released'
    """

    kind: ClassVar[str] = "identifier"
    name: str
    taken_from_data: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_name(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        return {"name": self.name, "kind": self.kind}

    def describe(self) -> str:
        """The declaration in words."""
        return f"{self.name}: identifier, never encoded or released"


Column = Numeric | Categorical | Identifier
#: Column kinds by their name in files; the first two are what all others are below.
KINDS: dict[str, type[Numeric] | type[Categorical] | type[Identifier]] = {
    column.kind: column for column in (Numeric, Categorical, Identifier, DateTime, Hierarchy)
}
REGISTRY: Registry[Any] = Registry(
    group="holdfast.columns",
    noun="column kind",
    own=tuple(KINDS.values()),
    kind=(Numeric, Categorical),
    classes=True,
    label="kind",
    promise="reads each row by itself",
)
