"""Formats of amounts with signs of currency, thousands and decimals, such as `$1,234.50` or `1.234,50 EUR`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from holdfast.errors import ParameterError

#: Signs that may separate thousands.
THOUSANDS = (",", ".", "'", "\u2019", "_", " ", "\u00a0", "\u202f")
#: Signs that count as the same one: blanks, some of which do not break a line, and apostrophes.
ALIKE = (" \u00a0\u202f", "'\u2019")
BLANK = f"[{ALIKE[0]}]{{0,3}}"
_SAMPLE = re.compile(r"([^0-9]*)1([^0-9]?)234(?:([^0-9])50*)?([^0-9]*)")
_STRANGE = set("\\[]^{}()|*?+-\"'\t\r\n\0")
_MOST_LETTERS = 20


@dataclass(frozen=True)
class AmountForm:
    """The signs around and between the digits of an amount. Those around it, and those of thousands, may be left out.

    >>> AmountForm.of("1.234,5 EUR")
    AmountForm(prefix='', thousands='.', decimal=',', suffix='EUR')
    >>> [AmountForm.of("$1,234.5").plain(text) for text in ("-$1,000", "$ 2.50", "12", "1,5", "EUR 3")]
    ['-1000', '2.50', '12', None, None]
    """

    prefix: str
    thousands: str
    decimal: str
    suffix: str

    @classmethod
    def of(cls, sample: str) -> AmountForm:
        """The form in which the number 1234.5, or 1234, is written like this."""
        match = _SAMPLE.fullmatch(sample) if isinstance(sample, str) else None
        if match is not None:
            parts = [part or "" for part in match.groups()]
            form = cls(parts[0].strip(), parts[1], parts[2], parts[3].strip())
            if form._good():
                return form
        raise ParameterError(
            "written_as must be the number 1234.5 as the file writes it, such as '$1,234.50', '1.234,50 EUR' or "
            f"'1234.5 %' (or 1234, without decimals: '1,234'), got written_as={sample!r}"
        )

    def _good(self) -> bool:
        around = all(
            len(affix) <= _MOST_LETTERS
            and not _STRANGE & set(affix)
            and (affix == "" or affix.strip(".,_ ") != "")
            for affix in (self.prefix, self.suffix)
        )
        signs = self.thousands in ("", *THOUSANDS) and self.decimal in ("", ".", ",")
        return around and signs and (self.thousands == "" or self.thousands != self.decimal)

    @property
    def sample(self) -> str:
        """The number 1234.5 in this form."""
        number = f"1{self.thousands}234{self.decimal}{'5' if self.decimal else ''}"
        return f"{self.prefix}{number}{' ' * bool(self.suffix)}{self.suffix}"

    @property
    def pattern(self) -> str:
        """A regular expression for the whole of a text, in what all engines have in common."""
        before, after = (f"(?:{_letters(affix)})?" if affix else "" for affix in (self.prefix, self.suffix))
        sign = f"(?:[+-]?{BLANK}{before}|{before}{BLANK}[+-]?)" if before else "[+-]?"
        between = next((f"[{alike}]" for alike in ALIKE if self.thousands in alike), f"[{self.thousands}]")
        grouped = f"[0-9]{{1,3}}(?:{between}[0-9]{{3}}){{1,30}}|" if self.thousands else ""
        fraction = f"(?:{_letters(self.decimal)}[0-9]{{1,100}})?" if self.decimal else ""
        return f"{BLANK}{sign}{BLANK}(?:{grouped}[0-9]{{1,100}}){fraction}{BLANK}{after}"

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, flags=re.ASCII)

    @property
    def replacements(self) -> tuple[tuple[str, str], ...]:
        """What to replace by what, in this order, until only a numeral is left of a text that fits the pattern."""
        apostrophes = ALIKE[1] if self.thousands in ALIKE[1] else self.thousands
        gone = [self.prefix, self.suffix, *apostrophes, *ALIKE[0], "+"]
        removals = [(text, "") for text in dict.fromkeys(gone) if text]
        return (*removals, (",", ".")) if self.decimal == "," else tuple(removals)

    def plain(self, text: str) -> str | None:
        """The numeral of one text; None where it is none."""
        if self._regex.fullmatch(text) is None:
            return None
        for old, new in self.replacements:
            text = text.replace(old, new)
        return text

    def numerals(self, texts: Any) -> Any:
        """The numerals of an Arrow array of texts; null where there is none."""
        import pyarrow.compute as pc

        from holdfast.data._schema.spelling import BLANKS

        trimmed = pc.ascii_trim(texts, characters=BLANKS)
        good = pc.fill_null(pc.match_substring_regex(trimmed, pattern=f"^(?:{self.pattern})$"), False)
        for old, new in self.replacements:
            trimmed = pc.replace_substring(trimmed, pattern=old, replacement=new)
        return pc.if_else(good, trimmed, None)


def _letters(text: str) -> str:
    """A text as a regular expression; special signs are put in brackets, which all engines read alike."""
    return "".join(letter if letter.isalnum() else f"[{letter}]" for letter in text)


@cache
def form_of(sample: str) -> AmountForm:
    """`AmountForm.of`, with its results kept."""
    return AmountForm.of(sample)
