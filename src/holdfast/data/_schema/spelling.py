"""How texts are compared with declared ones: blanks, the case of letters, aliases and markers of missing values.

Capital letters are replaced by a table, one letter for one, which every database has a function for. The databases' own
functions for lower case differ, and a value must mean the same in each. The table is the alphabets below U+0530 (Latin,
Greek, Cyrillic).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.data._schema.bins import is_finite
from holdfast.errors import ParameterError, require

BLANKS = " \t\r\n"
_LOWER = {
    chr(code): chr(code).lower()
    for code in range(0x530)
    if len(chr(code).lower()) == 1 and chr(code).lower() != chr(code)
}
_FOLD = str.maketrans(_LOWER)
_TYPES = re.compile(
    r"u?int(8|16|32|64)|float(32|64)|decimal\([0-9]{1,2}, ?[0-9]{1,2}\)|bool|(large_)?string|dictionary|date|"
    r"timestamp\[(s|ms|us|ns)(, ?[A-Za-z0-9_+:/-]{1,40})?\]"
)


def normalise_text(text: str, *, trim: bool, fold: bool) -> str:
    """The text as it is compared, for a column that trims blanks or folds letters.

    >>> normalise_text(" YES ", trim=True, fold=True), normalise_text("MÜNCHEN", trim=False, fold=True)
    ('yes', 'münchen')
    """
    text = text.strip(BLANKS) if trim else text
    return text.translate(_FOLD) if fold else text


def letters_of(texts: Iterable[str]) -> tuple[str, str]:
    """The capital letters that matter where a text is compared with these, and what each becomes.

    >>> letters_of(["no", "ja"])
    ('AJNO', 'ajno')
    """
    used = {letter for text in texts for letter in text}
    pairs = [(capital, small) for capital, small in _LOWER.items() if small in used]
    return "".join(capital for capital, _ in pairs), "".join(small for _, small in pairs)


def check_spellings(column: Any) -> None:
    """Refuse two declared texts that are compared as the same text and mean different things."""
    seen: dict[str, int] = {}
    for text, code in column.meanings():
        if seen.setdefault(column.normal_text(text), code) != code:
            raise ParameterError(
                f"categories, aliases and nulls of column {column.name!r} must differ as they are read "
                f"(trim={column.trim}, fold={column.fold}), but {text!r} stands for two of them; declare it once"
            )


def checked_aliases(name: str, aliases: Any, labels: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a text and the category that it stands for."""
    pairs = aliases.items() if isinstance(aliases, Mapping) else aliases
    checked_pairs = []
    for pair in pairs:
        good = len(pair) == 2 and all(isinstance(text, str) and "\0" not in text for text in pair)
        require(good, "aliases", pair, "texts that stand for categories, such as {'Y': 'yes'}")
        if pair[1] not in labels:
            raise ParameterError(
                f"aliases of column {name!r} must lead to a declared category, got {pair[1]!r}"
            )
        checked_pairs.append((pair[0], pair[1]))
    return tuple(checked_pairs)


def checked_markers(nulls: Any, *, numbers: bool) -> tuple[Any, ...]:
    """The markers of missing values: texts and, in a column of numbers, numbers (also those written as texts)."""
    require(not isinstance(nulls, str | bytes), "nulls", nulls, "a list of markers, such as ['NA', '-999']")
    markers: list[float | str] = []
    for marker in nulls:
        text = isinstance(marker, str) and "\0" not in marker
        value: Any = marker
        if numbers and text:
            try:
                value = float(marker) if math.isfinite(float(marker)) else marker
            except ValueError:
                value = marker  # no number: such a text is missing without being named
        elif not numbers and is_finite(marker) and float(marker).is_integer():
            value, text = str(int(marker)), True
        require(text or (numbers and is_finite(value)), "nulls", marker, "texts" + ", or numbers" * numbers)
        markers.append(float(value) if is_finite(value) else value)
    return tuple(dict.fromkeys(markers))


def check_type(dtype: object) -> None:
    """Refuse a name that is no storage type of a column of synthetic values."""
    good = isinstance(dtype, str) and _TYPES.fullmatch(dtype) is not None
    require(
        good,
        "dtype",
        dtype,
        "an Arrow type: int8 ... uint64, float32, float64, decimal(10, 2), bool, string, large_string, dictionary, "
        "date, timestamp[us] or timestamp[us, UTC]",
    )
