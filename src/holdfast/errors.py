"""The exceptions and warnings of holdfast, and helpers that raise them.

An exception is an output: whoever sees the results may see it. So a message names a parameter, its value, the
admissible range and the way out, and never a value from the data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Rational

_PASSWORDS = (
    # user:password@host, with or without slashes; a password may hold any of these signs, so all up to the last @ is
    # hidden.
    (re.compile(r""":[^\s'"]*@"""), ":***@"),
    (
        re.compile(r"""\b(\w*(?:password|passwd|pwd)\w*)\s*=\s*('[^']*'|"[^"]*"|[^\s&'"]+)""", re.IGNORECASE),
        r"\1=***",
    ),
)


MOST_SHOWN_CHARACTERS = 300
"""How many characters of a value a message shows, at most."""


def without_password(text: str) -> str:
    """A text in which the passwords of database URLs and of lists of settings are hidden.

    >>> without_password("no file at 'postgresql://clerk:hush@db/clinic?table=visits'")
    "no file at 'postgresql:***@db/clinic?table=visits'"
    >>> without_password("host=db password=hush")
    'host=db password=***'
    """
    for pattern, hidden in _PASSWORDS:
        text = pattern.sub(hidden, text)
    return text


class HoldfastError(Exception):
    """Every error that holdfast raises on purpose; no message of one shows a password."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(
            *(without_password(argument) if isinstance(argument, str) else argument for argument in arguments)
        )


class ParameterError(HoldfastError, ValueError):
    """A parameter is outside its range, or two parameters contradict each other."""


class AdjacencyError(ParameterError):
    """Objects for different neighbour relations or privacy units were combined."""


class DataError(HoldfastError, ValueError):
    """A table cannot be read as its schema says (wrong columns or shapes, never wrong values)."""


class NoIntervals(HoldfastError, ValueError):
    """A release does not hold enough for a valid interval; the message says what is missing."""


class BudgetExceeded(HoldfastError):
    """A charge does not fit into what is left; nothing was spent and no noise was drawn."""


class UselessRelease(ParameterError):
    """Public numbers show that the release would be useless; nothing was spent. `--even-if-useless` makes it anyway."""


class AlreadyReleased(HoldfastError):
    """This idempotency key was already used for a value that is no longer at hand."""


class FormatError(HoldfastError, ValueError):
    """A file is not what its format promises."""


class LedgerError(HoldfastError):
    """The ledger cannot be read, written or trusted; nothing was released."""


class NotWritten(HoldfastError):
    """A result was paid for and could not be written to its file; it is stored, and its idempotency key returns it."""


class MissingExtra(HoldfastError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class ExtensionError(HoldfastError):
    """An installed package registers an entry that cannot be used; the message names the package."""


class AssumptionWarning(UserWarning):
    """The promise rests on something that holdfast could not check."""


class NotPrivateWarning(UserWarning):
    """The result carries no privacy promise (a seeded run, an un-noised value)."""


class ProbabilityWarning(UserWarning):
    """The probabilities that a model states are known to be off, by public numbers of its fit."""


class BudgetWarning(UserWarning):
    """The budget is being spent in a way that is easy to overlook."""


class UselessReleaseWarning(UserWarning):
    """Public numbers show, before anything is spent, that the result would be useless whatever the data are."""


def require(condition: bool, name: str, value: object, must_be: str, way_out: str = "") -> None:
    """Raise `ParameterError` unless the condition holds.

    >>> require(0.5 > 0, "epsilon", 0.5, "> 0")
    >>> require(-1 > 0, "epsilon", -1, "> 0", "use math.inf for no privacy")
    Traceback (most recent call last):
    ...
    holdfast.errors.ParameterError: epsilon must be > 0, got epsilon=-1; use math.inf for no privacy
    """
    if not condition:
        raise ParameterError(
            f"{name} must be {must_be}, got {name}={_value_text(value)}" + (f"; {way_out}" if way_out else "")
        )


def _value_text(value: object) -> str:
    """What a message shows of a value; of an array, a frame or an error only the type, since these hold data."""
    holds_data = (hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0) or hasattr(value, "columns")
    text = type(value).__name__ if holds_data or isinstance(value, BaseException) else repr(value)
    return text if len(text) <= MOST_SHOWN_CHARACTERS else f"{text[:MOST_SHOWN_CHARACTERS]}..."


@contextmanager
def withholding(who: str, doing: str) -> Iterator[None]:
    """Replace errors of another library, whose messages may quote data, by an error that shows only their type.

    >>> with withholding("Python", "read it"):
    ...     float("somebody's name")
    Traceback (most recent call last):
    ...
    holdfast.errors.DataError: Python could not read it (ValueError; its message is withheld, because it may quote data)
    """
    kind = None
    try:
        yield
    except HoldfastError:
        raise
    except OSError as error:
        # The operating system's own words hold no data; an OSError that a library made up has no number.
        kind = type(error).__name__ if error.errno is None else os.strerror(error.errno)
    except Exception as error:
        kind = type(error).__name__
    if kind is not None:
        raise DataError(
            f"{who} could not {doing} ({kind}; its message is withheld, because it may quote data)"
        ) from None


def require_rational(
    name: str, value: Fraction, *, least: Fraction, most: Fraction, range_text: str
) -> Fraction:
    """The value as a Fraction, checked to be rational and within its range."""
    require(
        isinstance(value, Rational), name, value, "a rational number", f"pass {name}=fractions.Fraction(...)"
    )
    require(least <= value <= most, name, value, range_text)
    return Fraction(value)
