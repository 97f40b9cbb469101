"""Guesses the format of a CSV file, for drafts only.

A guess reads many rows at once, so nothing that is released may depend on it until somebody has declared the format.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import Any

from holdfast.data._engines.csv_files import csv_bytes
from holdfast.data._schema import CsvFormat
from holdfast.errors import DataError, withholding

SAMPLE_BYTES = 2**20
_BLOCK_BYTES = 2**24
_DELIMITERS = (",", ";", "\t", "|")
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,([0-9]+)|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,([0-9]+)")
_POINT_NUMBER = re.compile(r"[+-]?[0-9]*\.([0-9]+)|[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.([0-9]+)")
#: At least this share of the lines must have as many fields as the line of names.
_AGREED = 0.8
#: How many lines a heading has at most.
_MOST_HEADING_LINES = 40


def sniff_format(path: str, *, encoding: str | None = None) -> CsvFormat:
    """The format in which most lines at the beginning of the file can be read, and the encoding of the whole file."""
    with withholding("Python", "read the CSV file"), csv_bytes(path) as file:
        sample = file.read(SAMPLE_BYTES)
        odd = b"" if encoding is not None else _first_that_is_not_utf8(sample, file)
    form = CsvFormat(encoding=_encoding(sample, odd) if encoding is None else encoding)
    text = codecs.getincrementaldecoder(form.encoding)("replace").decode(sample).removeprefix("\ufeff")
    if "\r" in text.removesuffix("\r") and "\n" not in text:
        raise DataError(
            "lines of a CSV file must end with a line feed, with or without a carriage return before it, and those of "
            "this file end with a carriage return alone; convert it, for example by tr '\\r' '\\n'"
        )
    lines = re.split(r"(?<!\r)\r*\n", text)
    lines = lines[:-1] if len(lines) > 1 else lines
    usual = form.delimiter_of(path)
    delimiter, skip = _delimiter_of(lines, usual)
    rows = lines[skip:]
    fields = [field.strip('" ') for line in rows[1:] for field in _fields(line, delimiter)]
    joins = _joins_lines(rows, delimiter)
    return CsvFormat(
        encoding=form.encoding,
        delimiter=None if delimiter == usual else delimiter,
        decimal="," if delimiter != "," and _decimal_commas(fields) else ".",
        quoted_newlines=joins,
        skip=skip,
    )


def _first_that_is_not_utf8(sample: bytes, file: Any) -> bytes:
    """Bytes around the first place of a file that is not UTF-8; empty where all of it is."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in sample:
        return b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    block = sample
    while block:
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            return block[max(0, error.start - 1000) : error.start + SAMPLE_BYTES]
        block = file.read(_BLOCK_BYTES)
    return b""


def _encoding(sample: bytes, odd: bytes) -> str:
    """The encoding of a file; `odd` are bytes around its first place that is not UTF-8, empty where there is none."""
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    nothing = [sample[first::2].count(0) * 4 > len(sample) for first in (0, 1)]
    if any(nothing):
        return "utf-16-be" if nothing[0] else "utf-16-le"
    if not odd:
        return "utf-8"
    whole = odd[odd.find(b"\n") + 1 : odd.rfind(b"\n") + 1] or odd
    if not any(byte >= 0x80 for byte in whole):
        whole = odd
    japanese = _decode(whole, "cp932")
    if japanese is not None and _neighbours(japanese) > 0.5 and _written_in(japanese, _JAPANESE):
        return "cp932"
    western = _decode(whole, "cp1252")
    if western is not None and _in_an_alphabet(western, _WESTERN):
        return "cp1252"
    for encoding, alphabets in _ALPHABETS:
        decoded = _decode(whole, encoding)
        if decoded is not None and _in_an_alphabet(decoded, alphabets):
            return encoding
    if (
        western is not None
        and _neighbours(western) < 0.5
        and _misplaced_share(western) < _MOST_MISPLACED_SHARE
    ):
        return "cp1252"
    raise DataError(
        "a CSV file must be written in UTF-8, UTF-16, Shift-JIS or a European encoding for a draft to tell which, and "
        "this one is in none of them; name it (holdfast schema draft --encoding, or encoding= in Python: 'cp1251', "
        "'iso8859-2', 'gbk', 'big5', 'euc_kr'), or convert it to UTF-8, for example by iconv -f NAME -t UTF-8"
    )


_JAPANESE = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff9f\u2460-\u24ff\u00a5]")


#: The letters beyond ASCII of languages, and the encodings that files in them are written in.
_WESTERN = tuple(
    "äöüß äöå äöåé àâæçéèêëîïôœùûüÿ áéíñóúü áâãàçéêíóôõúü àáèéìíòóù æøåéòô áéíóúýþæðö ëéïöüèê äöõüšž".split()
)
_CENTRAL = tuple("ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţșț čćđšž".split())
_ALPHABETS = (("cp1250", _CENTRAL), ("iso8859-2", _CENTRAL), ("cp1254", ("çğ\u0131öşüâîû\u0307",)))
#: At least this share of the letters beyond ASCII is in the alphabet of the file's language.
_COVERED = 0.98
#: Signs that stand in front of no letter; where they do, they are letters of another encoding.
_LETTER = r"[^\W\d_]"
_MISPLACED = re.compile(
    rf"[\u00b1-\u00b3\u00b6\u00b9](?={_LETTER})|(?<={_LETTER})[\u00a1\u00a5\u00bc-\u00bf](?={_LETTER})"
)
_MOST_MISPLACED_SHARE = 0.02


def _misplaced_share(text: str) -> float:
    """How many signs stand where a letter would, for each letter beyond ASCII."""
    return len(_MISPLACED.findall(text)) / max(1, len(_beyond(text)))


def _beyond(text: str) -> list[str]:
    return [letter for letter in text.lower() if not letter.isascii() and letter.isalpha()]


def _in_an_alphabet(text: str, alphabets: tuple[str, ...]) -> bool:
    """Whether nearly all letters of a text are those of one language, and no sign stands for one."""
    letters = _beyond(text)
    if not letters or _misplaced_share(text) >= _MOST_MISPLACED_SHARE:
        return False
    return any(
        sum(letter in alphabet for letter in letters) >= _COVERED * len(letters) for alphabet in alphabets
    )


def _decode(sample: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _neighbours(text: str) -> float:
    """The share of letters beyond ASCII that stand beside another one: nearly none in Western languages."""
    beyond = re.findall(r"[^\x00-\x7f]+", text)
    return sum(len(run) for run in beyond if len(run) > 1) / max(1, sum(map(len, beyond)))


def _written_in(text: str, letters: re.Pattern[str]) -> bool:
    beyond = re.findall(r"[^\x00-\x7f]", text)
    return sum(letters.fullmatch(letter) is not None for letter in beyond) >= 0.98 * len(beyond)


def _fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line; delimiters inside of quotes are parts of them."""
    if '"' not in line:
        return line.split(delimiter)
    return re.sub(r'"[^"]*"', lambda quoted: quoted.group().replace(delimiter, "\x01"), line).split(delimiter)


def _delimiter_of(lines: list[str], usual: str) -> tuple[str, int]:
    """The delimiter that most lines agree about, and how many lines stand in front of the line of names."""
    scores: list[tuple[bool, bool, float, int, str, int]] = []
    for delimiter in dict.fromkeys((usual, *_DELIMITERS)):
        counts = [len(_fields(line, delimiter)) for line in lines]
        often = Counter(count for count in counts if count > 1)
        if not often:
            continue
        most = often.most_common(1)[0][0]
        first = counts.index(most)
        agreed = counts[first:].count(most) / max(1, len([line for line in lines[first:] if line]))
        heading = (
            0 < first <= _MOST_HEADING_LINES
            and agreed >= _AGREED
            and all(count < most for count in counts[:first])
        )
        if first == 0 or not heading:
            width = counts[0]
            agreed = counts.count(width) / len(counts) if width > 1 else 0.0
            scores.append((width > 1 and agreed >= _AGREED, width > 1, agreed, width, delimiter, 0))
        else:
            scores.append((False, True, agreed - 0.5, most, delimiter, first))
    if not scores:
        return usual, 0
    best = max(scores, key=lambda score: (score[:4], score[4] == usual))
    return (best[4], best[5]) if best[1] else (usual, 0)


def _decimal_commas(fields: list[str]) -> bool:
    """Whether numbers have decimal commas: three digits behind a comma may as well be thousands."""
    counts = []
    for pattern in (_COMMA_NUMBER, _POINT_NUMBER):
        matches = [match for field in fields if (match := pattern.fullmatch(field)) is not None]
        counts.append(sum(len(match[1] or match[2]) != 3 or match[2] is not None for match in matches))
    return counts[0] > counts[1]


def _joins_lines(lines: list[str], delimiter: str) -> bool:
    """Whether lines with an open quote are closed by a later one, as often as they are opened."""
    odd = [line for line in lines if line.count('"') % 2]
    opened = sum(re.search(rf'(^|{re.escape(delimiter)})"([^"]|"")*$', line) is not None for line in odd)
    closed = sum(re.search(rf'^([^"]|"")*"({re.escape(delimiter)}|$)', line) is not None for line in odd)
    return opened > 0 and closed > 0 and abs(opened - closed) <= 1
