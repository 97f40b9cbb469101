"""CsvFormat: how CSV files are written, declared beside the columns and never guessed from rows."""

from __future__ import annotations

import codecs
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import require

#: Encodings whose line ends can be found whatever stands between them. Others, such as UTF-7, carry a state from
#: line to line, by which one row could change how the next is read.
_UNICODE = ("utf-8", "utf-16", "utf-16-le", "utf-16-be")
#: Two bytes per letter, of which none is that of a line end, a comma or a quote; a broken letter ends with its line.
_DOUBLE = ("cp932", "shift_jis", "gbk", "big5", "euc_kr", "cp949")
_SINGLE = r"ascii|iso8859-[0-9]+|cp125[0-8]|cp437|cp85[0-9]|cp866|koi8-[rtu]|mac-[a-z0-9]+"

MOST_SKIPPED = 1000


@checked
@dataclass(frozen=True, kw_only=True)
class CsvFormat:
    """Encoding, delimiter, decimal sign and quote of CSV files.

    Parameters
    ----------
    encoding : str
        `"utf-8"`, `"utf-16"`, an encoding of one byte per letter such as `"latin-1"` or `"cp1252"`, or one of
        `"cp932"` (Shift-JIS), `"gbk"`, `"big5"`, `"euc_kr"` and `"cp949"`.
    delimiter : str, optional
        One ASCII character between fields. By default a comma, or a tab in files that end in `.tsv`.
    decimal : str
        `"."` or `","`, in the columns that are declared as numbers.
    quote : str
        One ASCII character around fields that hold a delimiter, doubled inside them; `""` for none.
    quoted_newlines : bool
        Whether a quoted field may hold line ends. Without it every line is a record, so that a stray quote
        spoils its own line and no other.
    skip : int
        How many lines stand in front of the names of the columns, such as a heading.

    Examples
    --------
    >>> CsvFormat(encoding="ISO-8859-1", delimiter=";", decimal=",").to_dict()
    {'encoding': 'iso8859-1', 'delimiter': ';', 'decimal': ','}
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    quote: str = '"'
    quoted_newlines: bool = False
    skip: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", _encoding_name(self.encoding))
        for name, sign, none in (("delimiter", self.delimiter, None), ("quote", self.quote, "")):
            plain = isinstance(sign, str) and len(sign) == 1 and sign.isascii() and sign not in "\n\r"
            require(sign == none or plain, name, sign, "one ASCII character that ends no line")
        require(self.delimiter != self.quote, "delimiter", self.delimiter, "another character than the quote")
        require(self.decimal in (".", ","), "decimal", self.decimal, "'.' or ','")
        taken = "," if self.delimiter is None else self.delimiter
        require(
            self.decimal != taken,
            "decimal",
            self.decimal,
            "another character than the delimiter",
            "files with decimal commas are delimited by ';' or a tab",
        )
        require(
            isinstance(self.quoted_newlines, bool), "quoted_newlines", self.quoted_newlines, "a truth value"
        )
        require(
            not self.quoted_newlines or self.quote != "", "quote", self.quote, "given with quoted_newlines"
        )

        whole = (
            isinstance(self.skip, int) and not isinstance(self.skip, bool) and 0 <= self.skip <= MOST_SKIPPED
        )
        require(whole, "skip", self.skip, f"a whole number from 0 to {MOST_SKIPPED}")

    def delimiter_of(self, path: str) -> str:
        """The delimiter of the file at `path`: the declared one, else that of its ending."""
        if self.delimiter is not None:
            return self.delimiter
        return "\t" if path.lower().removesuffix(".gz").endswith(".tsv") else ","

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    def describe(self) -> str:
        """What differs from the defaults, in one line."""
        return ", ".join(f"{name} {value!r}" for name, value in self.to_dict().items())


def _encoding_name(name: str) -> str:
    """The encoding's own name, if every line of it can be read by itself."""
    try:
        encoding = codecs.lookup(name).name.removesuffix("-sig")
    except (LookupError, TypeError, ValueError):
        encoding = ""
    require(
        encoding in (*_UNICODE, *_DOUBLE) or re.fullmatch(_SINGLE, encoding) is not None,
        "encoding",
        name,
        f"one of {(*_UNICODE, *_DOUBLE)} or an encoding of one byte per letter, such as 'latin-1' or 'cp1252'",
    )
    return encoding
