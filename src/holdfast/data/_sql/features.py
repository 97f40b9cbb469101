"""Encoded rows in SQL: the features that `holdfast.data.Encoder` computes, as expressions over a coded row.

A row of features is a few numbers, a code for each block of indicators, and constants. There is no expression for a
single indicator: a linear form takes one entry of a constant list per block, a quadratic form one per pair of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._schema import Numeric
from holdfast.data._sql.dialect import Dialect
from holdfast.data._sql.sums import TINY, CodedRow, Layer, Term, ordinary


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One number (`cells` is 0), or a block of indicators of which `name`, a code, says the one that is 1."""

    name: str
    first: int
    cells: int = 0

    @property
    def span(self) -> slice:
        """Its places among the features."""
        return slice(self.first, self.first + max(1, self.cells))


@dataclass(frozen=True, kw_only=True)
class FeatureRow:
    """The features of an encoder before clipping (`features`), and what clipping multiplies them with (`scale`).

    `constant` is put behind the features after clipping, as the column of an intercept; 0 for none. `weight` is how
    it is written in a sum: where some rows are null records, it is a name that is 0 in them, as `scale` is. Linear and
    quadratic forms of a null record are no numbers of it: whatever they go into is multiplied by one of the two.
    """

    layers: tuple[Layer, ...]
    features: tuple[Feature, ...]
    width: int
    dialect: Dialect
    constant: float = 0.0
    scale: str = "s"
    weight: str = ""

    @classmethod
    def of(
        cls, encoder: Any, row: CodedRow, *, constant: float = 0.0, null: str | None = None
    ) -> FeatureRow | None:
        """The rows of this encoder; None for another kind, or norms so extreme that SQL could not multiply them.

        `null` says which rows are null records.
        """
        from holdfast.data._encode import Encoder

        if type(encoder) is not Encoder:
            return None
        norm = encoder.row_norm
        if norm is not None and not math.sqrt(TINY) < norm < 1.0 / math.sqrt(TINY):
            return None
        if not ordinary(constant) or 0 < abs(constant) < TINY:
            return None
        dialect = row.dialect
        numbers: list[tuple[str, str]] = []
        features: list[Feature] = []
        width = 0

        def add(expression: str) -> None:
            nonlocal width
            numbers.append((f"x{width}", expression))
            features.append(Feature(name=f"x{width}", first=width))
            width += 1

        for name in encoder.columns_:
            column = encoder.schema[name]
            if isinstance(column, Numeric):
                number = _scale(column, row.value(name), encoder.scale, dialect)
                missing, zero, unity = row.missing(name), dialect.number(0.0), dialect.number(1.0)
                add(f"CASE WHEN {missing} THEN {zero} ELSE {number} END" if column.has_null_cell else number)
                if column.has_null_cell:
                    add(f"CASE WHEN {missing} THEN {unity} ELSE {zero} END")
            else:
                features.append(Feature(name=row.value(name), first=width, cells=column.cells))
                width += column.cells
        if encoder.intercept:
            add(dialect.number(1.0))
        unclipped = cls(layers=(), features=tuple(features), width=width, dialect=dialect, constant=constant)
        scale, weight = unclipped._clip(norm), dialect.number(constant)
        layer: Layer = (("s", scale),)
        if null is not None:
            zero = dialect.number(0.0)
            layer = tuple(
                (name, f"CASE WHEN {null} THEN {zero} ELSE {number} END")
                for name, number in (("s", scale), ("b", weight))
            )
            weight = "b"
        return replace(unclipped, layers=(tuple(numbers), layer), weight=weight)

    @property
    def dimension(self) -> int:
        """Features, and the constant."""
        return self.width + (self.constant != 0)

    def _clip(self, norm: float | None) -> str:
        """min(1, norm / |x|), from the sum of squares; a block of indicators adds 1."""
        unity = self.dialect.number(1.0)
        if norm is None:
            return unity
        blocks = sum(1 for feature in self.features if feature.cells)
        squares = [f"{feature.name} * {feature.name}" for feature in self.features if not feature.cells]
        length = f"sqrt({_total([self.dialect.number(float(blocks)), *squares])})"
        bound = self.dialect.number(norm)
        return f"{bound} / greatest({length}, {bound})"

    def linear(self, coefficients: Floats) -> str:
        """<a, row> of the clipped row with its constant."""
        form = f"{self.scale} * {self._form(coefficients[: self.width])}"
        return f"{form} + {self._number(coefficients[-1] * self.constant)}" if self.constant else form

    def quadratic(self, matrix: Floats) -> str:
        """row^T A row of the clipped row with its constant; a vector is the diagonal of A."""
        if matrix.ndim == 1:
            parts = [self._square(feature, np.diag(matrix[feature.span])) for feature in self.features]
        else:
            parts = [part for place in range(len(self.features)) for part in self._products(place, matrix)]
        form = f"{self.scale} * {self.scale} * {_total(parts)}"
        if not self.constant:
            return form
        corner = matrix[-1] if matrix.ndim == 1 else matrix[-1, -1]
        form += f" + {self._number(corner * self.constant**2)}"
        if matrix.ndim == 1:
            return form
        mixed = self._form(2.0 * self.constant * matrix[-1, : self.width])
        return f"{form} + {self.scale} * {mixed}"

    def terms(self, weight: str, constant: str) -> tuple[Term, ...]:
        """The sum of weight times the features, and of `constant` (the weight of the constant) if there is one."""
        terms = [self._term(feature, weight) for feature in self.features]
        return (*terms, Term(value=constant)) if self.constant else tuple(terms)

    def product_terms(self, weight: str, constant: str) -> tuple[tuple[Term, ...], list[tuple[int, int]]]:
        """The sums of weight x x^T, block by block, and which pairs of blocks they are for (upper half).

        `weight` multiplies products of features, `constant` features times the constant.
        """
        terms, pairs = [], []
        for i, first in enumerate(self.features):
            for j, second in enumerate(self.features[i:], start=i):
                by = tuple((f.name, f.cells) for f in ((first,) if i == j else (first, second)) if f.cells)
                numbers = [f.name for f in ((first, first) if i == j else (first, second)) if not f.cells]
                terms.append(Term(value=" * ".join([weight, *_product(numbers)]), by=by))
                pairs.append((i, j))
        if self.constant:
            for i, feature in enumerate(self.features):
                terms.append(self._term(feature, constant))
                pairs.append((i, -1))
        return tuple(terms), pairs

    def _term(self, feature: Feature, weight: str) -> Term:
        if feature.cells:
            return Term(value=weight, by=((feature.name, feature.cells),))
        return Term(value=f"{weight} * {feature.name}")

    def _form(self, coefficients: Floats) -> str:
        return _total([self._entry(f, coefficients[f.span]) for f in self.features])

    def _entry(self, feature: Feature, coefficients: Floats) -> str:
        if not feature.cells:
            return f"{self._number(coefficients[0])} * {feature.name}"
        return self.dialect.entry.format(feature.name, _entries(coefficients))

    def _square(self, feature: Feature, block: Floats) -> str:
        if feature.cells:
            return self._entry(feature, np.diag(block))
        return f"{self._number(block[0, 0])} * ({feature.name} * {feature.name})"

    def _products(self, place: int, matrix: Floats) -> list[str]:
        """The terms of A in which this block comes first."""
        first = self.features[place]
        parts = [self._square(first, matrix[first.span, first.span])]
        inner = []
        for second in self.features[place + 1 :]:
            block = 2.0 * matrix[first.span, second.span]
            if first.cells and second.cells:
                index = f"({first.name} * {second.cells} + {second.name})"
                parts.append(self.dialect.entry.format(index, _entries(block.ravel())))
            elif first.cells:
                parts.append(f"{self._entry(first, block[:, 0])} * {second.name}")
            else:
                inner.append(self._entry(second, block[0]))
        return [*parts, f"{first.name} * {_total(inner)}"] if inner else parts

    def _number(self, value: float) -> str:
        return self.dialect.number(_flush(float(value)))

    def spread(self, parts: Sequence[Floats]) -> Floats:
        """The sums of `terms`, as one vector."""
        return np.concatenate([np.atleast_1d(part) for part in parts])

    def matrix(self, parts: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Floats:
        """The sums of `product_terms`, as a symmetric matrix without the corner of the constant."""
        products = np.zeros((self.dimension, self.dimension))
        for part, (i, j) in zip(parts, pairs, strict=True):
            first = self.features[i].span
            second = slice(self.width, self.width + 1) if j < 0 else self.features[j].span
            rows, columns = first.stop - first.start, second.stop - second.start
            block = np.diag(np.atleast_1d(part)) if i == j else part.reshape(rows, columns)
            products[first, second] = block
            products[second, first] = block.T
        return products


def _scale(column: Numeric, value: str, scale: str, dialect: Dialect) -> str:
    """A clipped value on [0, 1] or [-1, 1] (`Encoder`), 0 where the quotient would be tiny."""
    width = column.high - column.low
    above = f"({value} - {dialect.number(column.low)})"
    zero, unity = dialect.number(0.0), dialect.number(1.0)
    share = (
        f"CASE WHEN {above} < {dialect.number(width * TINY)} THEN {zero} "
        f"ELSE least(greatest({above} / {dialect.number(width)}, {zero}), {unity}) END"
    )
    if scale == "unit":
        return share
    return f"({dialect.number(2.0)} * {share} - {unity})"  # a multiple of 2^-53: never tiny


def _total(parts: Sequence[str]) -> str:
    """A sum in brackets, halved again and again: a chain of thousands would exhaust a parser's stack.

    >>> _total(["a", "b", "c"])
    '(a + (b + c))'
    """
    if len(parts) < 2:
        return f"({parts[0]})" if parts else "(0)"
    middle = len(parts) // 2
    first, second = (half[0] if len(half) == 1 else _total(half) for half in (parts[:middle], parts[middle:]))
    return f"({first} + {second})"


def _product(numbers: Sequence[str]) -> list[str]:
    return [f"({' * '.join(numbers)})"] if len(numbers) > 1 else list(numbers)


def _flush(value: float) -> float:
    return 0.0 if abs(value) < TINY or not math.isfinite(value) else value


def _entries(values: Floats) -> str:
    return ",".join(repr(_flush(float(value))) for value in values)
