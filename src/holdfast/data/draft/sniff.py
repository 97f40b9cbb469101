"""How a CSV file seems to be written: a guess for drafts, and for nothing else.

A guess looks at many rows at once, so nothing that is released may rest on it until somebody has declared it.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from holdfast.data.schema import CsvFormat
from holdfast.errors import withholding

SAMPLE_BYTES = 2**20
_DELIMITERS = (",", ";", "\t", "|")
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+")
_POINT_NUMBER = re.compile(r"[+-]?[0-9]*\.[0-9]+")


def sniffed_format(path: str, *, encoding: str | None = None) -> CsvFormat:
    """The format that most lines of the file's beginning are sound in."""
    opener: Callable[..., Any] = gzip.open if path.lower().endswith(".gz") else open
    with withholding("Python", "read the CSV file"), opener(path, "rb") as file:
        sample = file.read(SAMPLE_BYTES)
    encoding = _encoding(sample) if encoding is None else encoding
    lines = sample.decode(encoding, "replace").splitlines()
    lines = lines[: max(1, len(lines) - 1)] if len(sample) == SAMPLE_BYTES else lines
    usual = CsvFormat().delimiter_of(path)
    delimiter = max((usual, *_DELIMITERS), key=lambda sign: _agreement(lines, sign))
    fields = [field.strip('"') for line in lines[1:] for field in line.split(delimiter)]
    commas, points = (
        sum(bool(p.fullmatch(field)) for field in fields) for p in (_COMMA_NUMBER, _POINT_NUMBER)
    )
    return CsvFormat(
        encoding=encoding,
        delimiter=None if delimiter == usual else delimiter,
        decimal="," if commas > points and delimiter != "," and usual != delimiter else ".",
        quoted_newlines=_joins_lines(lines, delimiter),
    )


def _encoding(sample: bytes) -> str:
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    nothing = [sample[first::2].count(0) * 4 > len(sample) for first in (0, 1)]
    if any(nothing):
        return "utf-16-be" if nothing[0] else "utf-16-le"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _agreement(lines: list[str], delimiter: str) -> tuple[int, int]:
    """How many lines have as many delimiters as the first, if it has any; then, how many that is."""
    first = lines[0].count(delimiter) if lines else 0
    if not first:
        return 0, 0
    return Counter(line.count(delimiter) for line in lines)[first], first


def _joins_lines(lines: list[str], delimiter: str) -> bool:
    """Whether lines with an open quote are closed by a later one, as often as they are opened."""
    odd = [line for line in lines if line.count('"') % 2]
    opened = sum(re.search(rf'(^|{re.escape(delimiter)})"[^"]*$', line) is not None for line in odd)
    closed = sum(re.search(rf'^[^"]*"({re.escape(delimiter)}|$)', line) is not None for line in odd)
    return bool(odd) and opened > 0 and closed > 0 and len(odd) % 2 == 0
