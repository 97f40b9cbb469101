"""A layout: columns of texts as a file holds them, how the file is written, and what each column is."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 700


@dataclass(frozen=True)
class Truth:
    """What a column is: of which classes (any is right), within which bounds, with which marks of missing values."""

    classes: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    nulls: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: str) -> Truth:
        """Read `number 0..99 null -1 N`, `code|category`, `date`, `id`, `text`.

        >>> Truth.of("number 0..99 null -1 N")
        Truth(classes=('number',), low=0.0, high=99.0, nulls=('-1', 'N'))
        """
        front, _, nulls = said.partition(" null ")
        classes, *bounds = front.split()
        low, high = (float(one) for one in bounds[0].split("..")) if bounds else (None, None)
        return cls(
            tuple(classes.split("|")),
            low,
            high,
            tuple(nulls.split("~")) if "~" in nulls else tuple(nulls.split()),
        )


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One file."""

    columns: Mapping[str, Sequence[str]]
    truth: Mapping[str, str]
    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    quoting: int = csv.QUOTE_MINIMAL
    preamble: str = ""
    gap: str = ""
    """What stands behind each delimiter."""
    csv: Mapping[str, Any] = field(default_factory=dict)
    """What the drafted format must hold."""

    def write(self, path: Path) -> Path:
        """The file."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, quoting=self.quoting, lineterminator="\n")  # type: ignore[arg-type]
        writer.writerow(list(self.columns))
        for row in zip(*self.columns.values(), strict=True):
            writer.writerow([row[0], *(self.gap + field for field in row[1:])])
        whole = self.preamble + text.getvalue()
        path.write_bytes(whole.replace("\n", self.newline).encode(self.encoding))
        return path


class Draw:
    """Draws of texts, from one seed."""

    def __init__(self, seed: int, rows: int = ROWS) -> None:
        self.random = np.random.default_rng(seed)
        self.rows = rows

    def of(self, values: str | Sequence[str], weights: Sequence[float] | None = None) -> list[str]:
        """Values, separated by blanks or listed, by weights that need not sum to 1."""
        listed = values.split() if isinstance(values, str) else list(values)
        shares = None if weights is None else np.array(weights) / np.sum(weights)
        return [str(one) for one in self.random.choice(listed, self.rows, p=shares)]

    def whole(self, low: int, high: int, form: str = "d") -> list[str]:
        """Whole numbers up to and with the high one."""
        return [format(int(one), form) for one in self.random.integers(low, high + 1, self.rows)]

    def counts(self, mean: float, least: int = 0) -> list[str]:
        """Counts that rise and fall."""
        return [str(least + int(one)) for one in self.random.poisson(mean, self.rows)]

    def amounts(self, middle: float, spread: float = 1.0, form: str = ".2f") -> list[str]:
        """Skewed amounts around exp(middle)."""
        return [format(float(one), form) for one in np.exp(self.random.normal(middle, spread, self.rows))]

    def normal(self, mean: float, spread: float, form: str = ".1f") -> list[str]:
        """Measurements."""
        return [format(float(one), form) for one in self.random.normal(mean, spread, self.rows)]

    def days(self, first: str = "2015-01-01", length: int = 1500, form: str = "%Y-%m-%d") -> list[str]:
        """Days, written in a form of strftime."""
        found = np.datetime64(first) + self.random.integers(0, length, self.rows)
        return [one.item().strftime(form) for one in found]

    def moments(self, first: str = "2019-01-01T00:00:00", form: str = "%Y-%m-%d %H:%M:%S") -> list[str]:
        """Moments of two years."""
        found = np.datetime64(first) + self.random.integers(0, 63_000_000, self.rows)
        return [one.item().strftime(form) for one in found]

    def some(self, values: Sequence[str], other: str, share: float = 0.1) -> list[str]:
        """The same with another text in some rows."""
        swapped = self.random.random(self.rows) < share
        return [other if swap else value for swap, value in zip(swapped, values, strict=True)]

    def numbered(self, form: str = "{}", first: int = 1) -> list[str]:
        """A number of its own for every row."""
        return [form.format(first + place) for place in range(self.rows)]

    def sentences(self, words: int = 9) -> list[str]:
        """Free text."""
        known = (
            "patient reports mild pain after walking the left knee was examined and no swelling found advised rest "
            "with follow up in two weeks daughter called about medication"
        ).split()
        return [" ".join(self.random.choice(known, words)) for _ in range(self.rows)]

    def tokens(self, letters: str = "0123456789abcdef", length: int = 32) -> list[str]:
        """Keys that a machine gave."""
        return ["".join(self.random.choice(list(letters), length)) for _ in range(self.rows)]

    def icd(self, dotted: bool = True, kinds: int = 60) -> list[str]:
        """ICD-10 codes, of three to five letters."""
        chapters = self.random.choice(list("ABCEFGIJKMNR"), kinds)
        parts = self.random.integers(0, 100, kinds)
        ends = self.random.integers(0, 10, kinds)
        listed = [
            f"{c}{p:02d}" + (f"{'.' * dotted}{e}" if e < 8 else "")
            for c, p, e in zip(chapters, parts, ends, strict=True)
        ]
        return self.of(listed)
