"""What texts of a column seem to be: marks of missing values, dates, spellings of one word, steps of a scale."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from holdfast.data.schema.amounts import THOUSANDS, AmountForm
from holdfast.data.schema.calendar import ISO, UNITS, packed_text, unit_numbers
from holdfast.data.schema.spelling import BLANKS, spelled

#: Texts that often mean a missing value, as they are compared.
NULLS = {"", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", "---", "?", ".", "(null)", "#n/a", "missing",
         "unknown", "k.a.", "k. a.", "keine angabe", "unbekannt", "not available", "no answer",
         "prefer not to say"}  # fmt: skip
FORMATS = (
    ISO, "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d", "%d.%m.%y", "%d/%m/%y",
    "%m/%d/%y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S",
)  # fmt: skip
YES = {"yes", "y", "true", "t", "1", "ja", "j", "oui", "si", "sí", "x"}
NO = {"no", "n", "false", "f", "0", "nein", "non"}
SCALES: tuple[tuple[str, ...], ...] = (
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("very small", "small", "medium", "middle", "large", "very large"),
    ("none", "very low", "low", "mid", "middle", "medium", "moderate", "high", "very high"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("strongly disagree", "disagree", "neutral", "neither agree nor disagree", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "neutral", "neither", "undecided",
     "slightly agree", "somewhat agree", "agree", "strongly agree"),
    ("very bad", "bad", "poor", "fair", "good", "very good", "excellent"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("not at all", "a little", "somewhat", "quite a bit", "a lot", "very much", "extremely"),
    ("none", "minimal", "mild", "light", "moderate", "serious", "severe", "heavy"),
    ("nie", "selten", "manchmal", "gelegentlich", "oft", "häufig", "meistens", "immer"),
    ("keine", "sehr leicht", "leicht", "mittel", "mittelschwer", "schwer", "sehr schwer"),
    ("sehr niedrig", "niedrig", "gering", "mittel", "hoch", "sehr hoch"),
    ("sehr schlecht", "schlecht", "mittel", "befriedigend", "gut", "sehr gut"),
    ("stimme gar nicht zu", "stimme nicht zu", "stimme eher nicht zu", "teils teils", "teils/teils", "neutral",
     "stimme eher zu", "stimme zu", "stimme voll zu"),
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("bronze", "silver", "gold", "platinum"),
    ("i", "ii", "iii", "iv", "v"),
)  # fmt: skip
#: What stands around amounts, beside signs of currencies.
UNITS_OF_AMOUNTS = {
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "BRL",
    "ZAR", "Euro", "euro", "Rs.", "Rs", "kr", "kr.", "Fr.", "Fr", "zł", "Kč", "Ft", "lei", "TL",
    "%", "\u2030", "kg", "g", "mg", "t", "km", "m", "cm", "mm", "l", "ml", "h", "min", "s", "°C", "kWh",
}  # fmt: skip
_AMOUNT = re.compile(
    r"[+-]?\s*([^0-9\s+-]{0,6})\s*[+-]?\s*[0-9](?:[0-9.,'\u2019_ \u00a0\u202f]*[0-9])?\s*([^0-9\s]{0,6})"
)
#: So large a share of the texts must be read as what the column is taken for.
MOST = 0.95


def null_markers(words: Mapping[str, int]) -> list[str]:
    """The texts among these that seem to mean a missing value."""
    return [word for word in words if spelled(word, trim=True, fold=True) in NULLS]


def date_format(words: Mapping[str, int]) -> tuple[str, list[str], int] | None:
    """The format that most texts are read in, others that would do as well, and how many cannot be read."""
    total = sum(words.values())
    found = []
    for form in FORMATS:
        packed = np.array([packed_text(word.strip(BLANKS), form) for word in words])
        days = unit_numbers(packed, "day")
        # Eight digits are a date only if they are one of our time.
        good = np.isfinite(days) & ((form != "%Y%m%d") | ((days > -26000) & (days < 48000)))
        read = sum(count for count, one in zip(words.values(), good.tolist(), strict=True) if one)
        found.append((read, form))
    best = max(read for read, _ in found)
    if total == 0 or best < MOST * total:
        return None
    forms = [form for read, form in found if read == best]
    return forms[0], forms[1:], total - best


def amount_form(words: Mapping[str, int], *, decimal: str) -> tuple[str, list[str], int] | None:
    """How most of these texts write 1234.5, what would do as well, and how many are read; None for plain numbers.

    >>> amount_form({"$1,200.00": 3, "$9.50": 1}, decimal=".")
    ('$1,234.5', [], 4)
    >>> amount_form({"1.200 EUR": 3, "20 EUR": 1}, decimal=",")
    ('1.234,5 EUR', ['1234.5 EUR'], 4)
    """
    found = {word.strip(BLANKS): _AMOUNT.fullmatch(word.strip(BLANKS)) for word in words}
    total = sum(words.values())
    if sum(count for word, count in words.items() if found[word.strip(BLANKS)]) < max(1, MOST * total):
        return None
    around: list[Counter[str]] = [Counter(), Counter()]
    for word, count in words.items():
        match = found[word.strip(BLANKS)]
        for side, counter in zip((1, 2), around, strict=True):
            text = "" if match is None else match.group(side)
            counter[
                text if text in UNITS_OF_AMOUNTS or unicodedata.category(text[-1:] or " ") == "Sc" else ""
            ] += count
    before, after = (max(counter, key=lambda text: (text != "", counter[text])) for counter in around)
    signs = {sign for word in found for sign in re.findall(r"(?<=[0-9])[^0-9](?=[0-9])", word)}
    read: dict[str, int] = {}
    for thousands in (*(sign for sign in THOUSANDS if sign in signs), ""):
        for point in dict.fromkeys((decimal, *(sign for sign in ".," if sign in signs))):
            if thousands == point or (before, after, thousands, point) == ("", "", "", decimal):
                continue
            form = AmountForm(before, thousands, point, after)
            read[form.sample] = sum(
                count for word, count in words.items() if form.plain(word.strip(BLANKS)) is not None
            )
    best = max(read.values(), default=0)
    if best < max(1, MOST * total):
        return None
    forms = [sample for sample, count in read.items() if count == best]
    return forms[0], forms[1:], best


def unit_of(packed: Iterable[float]) -> str:
    """The coarsest of day, hour, minute and second that tells all of these moments apart."""
    clock = np.array([one % 1_000_000 for one in packed if one == one])
    for unit, size in (("day", 1_000_000), ("hour", 10_000), ("minute", 100)):
        if bool(np.all(clock % size == 0)):
            return unit
    return UNITS[-1]


def spellings(words: Mapping[str, int]) -> tuple[list[str], bool, bool, int]:
    """One spelling of each word, the most frequent; whether to trim and to fold; and how many others there are."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for word, count in words.items():
        groups[spelled(word, trim=True, fold=True)][word] += count
    chosen = [
        max(sorted(group), key=lambda word: (group[word], word == word.strip())) for group in groups.values()
    ]
    trim = any(word != word.strip(BLANKS) for word in words)
    trimmed = {word.strip(BLANKS) for word in words}
    fold = len({spelled(word, trim=False, fold=True) for word in trimmed}) < len(trimmed)
    return sorted((word.strip(BLANKS) for word in chosen), key=_natural), trim, fold, len(words) - len(groups)


def _natural(word: str) -> tuple[list[tuple[bool, int, str]], str]:
    """The order in which people list words: numbers in them by their size, letters of either case together.

    >>> sorted(["10A", "b", "9A", "B", "a"], key=_natural)
    ['9A', '10A', 'a', 'B', 'b']
    """
    parts = re.findall(r"[0-9]{1,15}|[^0-9]+", word)
    return [(not one[0].isdigit(), int(one) if one[0].isdigit() else 0, one.lower()) for one in parts], word


def yes_and_no(labels: list[str]) -> tuple[list[str], dict[str, str]] | None:
    """The two answers, no first, and other texts for them; None where the labels say something else."""
    folded = {label: spelled(label, trim=True, fold=True) for label in labels}
    yes, no = ([label for label, one in folded.items() if one in side] for side in (YES, NO))
    if not yes or not no or len(yes) + len(no) < len(labels):
        return None
    first, second = max(no, key=len), max(yes, key=len)
    aliases = {label: first for label in no if label != first} | {
        label: second for label in yes if label != second
    }
    return [first, second], aliases


def known_scale(labels: list[str]) -> list[str] | None:
    """The labels in the order of a known scale; None where they are of none."""
    places = [spelled(label, trim=True, fold=True) for label in labels]
    for scale in SCALES:
        if len(labels) >= 3 and all(place in scale for place in places):
            return [label for _, label in sorted(zip(map(scale.index, places), labels, strict=True))]
    return None


_CODE = re.compile(r"[A-Za-z0-9]{3,10}")


def code_length(words: Iterable[str]) -> int | None:
    """The length of codes such as postcodes, if all texts are codes of one length with a digit in them."""
    lengths = set()
    for word in words:
        if not _CODE.fullmatch(word) or not any(letter.isdigit() for letter in word):
            return None
        lengths.add(len(word))
    return lengths.pop() if len(lengths) == 1 else None


def serial(words: Iterable[str]) -> bool:
    """Whether all are numbers behind the same letters, as policies, meters or members are numbered.

    >>> serial(["P000123", "P000124", "P020001"]), serial(["E110", "I251"])
    (True, False)
    """
    found = [_SERIAL.fullmatch(word) for word in words]
    return bool(found) and None not in found and len({match[1] for match in found if match}) == 1


_SERIAL = re.compile(r"([A-Za-z]+)[0-9]+")
