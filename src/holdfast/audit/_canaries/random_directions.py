"""Canaries in random directions: signs from bits, or uniform on the sphere.

In d dimensions two of them have an inner product near 1/sqrt(d), so m of them that are included or not
disturb each score with variance m/(2d): small while m is far below d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast._arrays import Floats
from holdfast.audit._canaries.design import (
    ROWS_AT_ONCE,
    Block,
    as_bytes,
    as_indices,
    as_vector,
    check_design,
    in_blocks,
    largest_entry,
    random_words,
    stream_key,
    streamed_combine,
    streamed_project,
)
from holdfast.errors import require

SIGNS_STREAM, SPHERE_STREAM = 0x5349474E, 0x53504852
"""Purposes of the two streams."""
TILE_ROWS, TILE_COLUMNS = 64, 2048
"""Signs unpacked at a time, so that a tile stays in the cache between unpacking and multiplying."""
_NORM_MARGIN = 1.0 - 1e-12
"""More than the rounding of a norm and a division in any dimension below 10^9."""


@dataclass(frozen=True, kw_only=True)
class RademacherCanaries:
    """Every entry is plus or minus the same number, one public bit each; the default.

    m d bits are made for each pass and none are kept: 16,384 canaries in 100,000 dimensions take a few
    megabytes. `precision="single"` multiplies in float32: half the time, scores good to six digits; the
    sum of included canaries stays exact before scaling, being a sum of whole numbers.

    >>> canaries = RademacherCanaries(count=3, dimension=4, seed=1)
    >>> np.unique(canaries.rows([0, 1, 2]))
    array([-0.5,  0.5])
    """

    count: int
    dimension: int
    seed: int
    row_norm: float = 1.0
    precision: Literal["double", "single"] = "double"

    def __post_init__(self) -> None:
        check_design(self.count, self.dimension, self.row_norm, seed=self.seed)
        require(self.precision in ("double", "single"), "precision", self.precision, "'double' or 'single'")

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """Design, shape, norm and seed."""
        return _public("rademacher", self)

    @property
    def entry(self) -> float:
        """The size of every entry."""
        return largest_entry(self.row_norm, self.dimension)

    @property
    def words_per_row(self) -> int:
        """Each row begins at a new word."""
        return -(-self.dimension // 64)

    def bits(self, first: int, rows: int) -> NDArray[np.uint8]:
        """Rows of packed bits, lowest bit first; a set bit is a minus sign."""
        width = self.words_per_row
        signs = random_words(stream_key(self.seed, SIGNS_STREAM), first * width, rows * width)
        return as_bytes(signs).reshape(rows, 8 * width)

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""
        chosen = as_indices(indices, self.count)
        signs = np.empty((len(chosen), self.dimension))
        for row, index in zip(signs, chosen.tolist(), strict=True):
            minus = np.unpackbits(self.bits(index, 1)[0], count=self.dimension, bitorder="little")
            row[:] = self.entry
            row[minus.view(np.bool_)] = -self.entry
        return signs

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""
        return in_blocks(self, rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products, unpacking one tile at a time."""
        vector = self._single(as_vector(direction, self.dimension, "direction"))
        # A sign is 1 - 2 bit, so X v = entry (sum v - 2 B v).
        minus = np.zeros(self.count)
        for start, column, tile in self._tiles():
            minus[start : start + len(tile)] += tile @ vector[column : column + tile.shape[1]]
        return self.entry * (float(vector.sum(dtype=np.float64)) - 2.0 * minus)

    def combine(self, weights: ArrayLike) -> Floats:
        """The weighted sum, unpacking one tile at a time; with weights 0 and 1 it is rounded only once."""
        weight = self._single(as_vector(weights, self.count, "weights"))
        minus = np.zeros(self.dimension)
        for start, column, tile in self._tiles():
            minus[column : column + tile.shape[1]] += weight[start : start + len(tile)] @ tile
        return self.entry * (float(weight.sum(dtype=np.float64)) - 2.0 * minus)

    def _single(self, vector: Floats) -> NDArray[np.floating]:
        return vector.astype(np.float32) if self.precision == "single" else vector

    def _tiles(self) -> Iterator[tuple[int, int, NDArray[np.floating]]]:
        """Bits as numbers 0 and 1, a tile at a time; the tile is overwritten by the next."""
        kind = np.float32 if self.precision == "single" else np.float64
        buffer = np.empty((TILE_ROWS, TILE_COLUMNS), kind)
        for start in range(0, self.count, TILE_ROWS):
            bits = self.bits(start, min(TILE_ROWS, self.count - start))
            for column in range(0, self.dimension, TILE_COLUMNS):
                width = min(TILE_COLUMNS, self.dimension - column)
                part = bits[:, column // 8 : (column + TILE_COLUMNS) // 8]
                tile = buffer[: len(bits), :width]
                np.copyto(tile, np.unpackbits(part, axis=1, count=width, bitorder="little"))
                yield start, column, tile


@dataclass(frozen=True, kw_only=True)
class SphereCanaries:
    """Uniform on the sphere: normal vectors, divided by their length.

    Normal draws cost a hundred times more than bits, so this is for comparison with the literature. Each
    row has its own stream; its values are those of NumPy's generator and the same while that is.

    >>> canaries = SphereCanaries(count=3, dimension=40, seed=1)
    >>> bool(np.all(np.abs(np.linalg.norm(canaries.rows([0, 1, 2]), axis=1) - 1) < 1e-11))
    True
    """

    count: int
    dimension: int
    seed: int
    row_norm: float = 1.0

    def __post_init__(self) -> None:
        check_design(self.count, self.dimension, self.row_norm, seed=self.seed)

    @property
    def public(self) -> Mapping[str, int | float | str]:
        """Design, shape, norm and seed; the values also need NumPy's normal generator."""
        return _public("sphere", self) | {"numpy": np.__version__}

    def rows(self, indices: ArrayLike) -> Floats:
        """Some canaries, one in each row."""
        chosen = as_indices(indices, self.count)
        directions = np.empty((len(chosen), self.dimension))
        for row, index in zip(directions, chosen.tolist(), strict=True):
            stream = np.random.PCG64(np.random.SeedSequence([self.seed, SPHERE_STREAM, index]))
            np.random.Generator(stream).standard_normal(out=row)
            row *= self.row_norm * _NORM_MARGIN / float(np.linalg.norm(row))
        return directions

    def blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[Block]:
        """All canaries in order, a few rows at a time."""
        return in_blocks(self, rows)

    def project(self, direction: ArrayLike) -> Floats:
        """The m inner products, by one pass over the blocks."""
        return streamed_project(self, direction)

    def combine(self, weights: ArrayLike) -> Floats:
        """The weighted sum, by one pass over the blocks."""
        return streamed_combine(self, weights)


def _public(design: str, canaries: RademacherCanaries | SphereCanaries) -> dict[str, int | float | str]:
    return {
        "design": design,
        "count": canaries.count,
        "dimension": canaries.dimension,
        "row_norm": canaries.row_norm,
        "seed": canaries.seed,
    }
