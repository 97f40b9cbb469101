"""PublicDesign: the features of a fit that can have intervals, as far as declarations tell before anything is paid.

Three things other than noise make an interval about another coefficient than the one that is meant: rows that are cut,
columns that add up to the constant column, and columns that never change. All three follow from what is declared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast._assumption import ACCURACY, Assumption
from holdfast.data._encode import Encoder
from holdfast.data._reference_encoder import ReferenceEncoder
from holdfast.data._schema import Numeric, Schema

USERS_ASSUMED = Assumption(
    kind=ACCURACY,
    subject="intervals",
    text="no intervals can follow: a unit owns several rows, which are not independent draws; average each unit's rows "
    "into one before the fit, or declare that each row is a unit",
)


@dataclass(frozen=True, kw_only=True)
class PublicDesign:
    """The features of a fit whose coefficients shall have intervals, and how long its rows can be."""

    schema: Schema
    columns: tuple[str, ...]
    reference: tuple[str, ...]
    """Columns whose first category has no feature."""

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], *, intercept: bool) -> PublicDesign:
        """The design in which categories add up to the constant column nowhere.

        With an intercept the first category of every column has no feature; without, that of all columns but one.

        >>> from holdfast.data._schema import Categorical
        >>> schema = Schema([Numeric("age", 0, 1), Categorical("a", ["x", "y"]), Categorical("b", ["x", "y"])])
        >>> [PublicDesign.of(schema, schema.names, intercept=flag).reference for flag in (True, False)]
        [('a', 'b'), ('b',)]
        """
        categories = [name for name in columns if not isinstance(schema[name], Numeric)]
        if not intercept:
            whole = next((name for name in categories if schema[name].cells > 1), None)
            categories = [name for name in categories if name != whole]
        return cls(schema=schema, columns=tuple(columns), reference=tuple(categories))

    @property
    def longest_row(self) -> float:
        """The norm that no declared row exceeds: each column that may vary adds at most 1 to its square."""
        varying = [name for name in self.columns if name not in self.reference or self.schema[name].cells > 1]
        return math.nextafter(math.sqrt(max(1, len(varying))), math.inf)

    def encoder(self, row_norm: float) -> Encoder:
        """The encoder of these features, without an intercept."""
        if not self.reference:
            return Encoder(self.schema, self.columns, intercept=False, row_norm=row_norm)
        return ReferenceEncoder(
            self.schema, self.columns, intercept=False, row_norm=row_norm, reference=self.reference
        )


def clipping_assumptions(row_norm: float, longest: float | None) -> tuple[Assumption, ...]:
    """The assumption of intervals about rows that may be cut; none where no declared row is.

    >>> clipping_assumptions(2.0, 1.7)
    ()
    """
    if longest is not None and row_norm >= longest * (1.0 - 1e-9):
        return ()
    if longest is None:
        text = (
            f"intervals are about rows cut at row_norm={row_norm:g}, and nothing declares how long rows are: if some "
            "are longer, about other coefficients than those of whole rows; declare bounds, or fit a Table"
        )
    else:
        text = (
            f"intervals are about rows cut at row_norm={row_norm:g}, while declared rows can be as long as "
            f"{longest:.4g}: about other coefficients than those of whole rows; leave row_norm out, or give at least "
            f"{longest:.4g}"
        )
    return (Assumption(kind=ACCURACY, subject="intervals", text=text),)
