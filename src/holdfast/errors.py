"""What goes wrong, and how it is said.

An exception is an output: it may be seen by whoever sees the results. So a message names a
parameter, its value, the admissible range and the way out, and never a value from the data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from numbers import Rational

_PASSWORDS = (
    # user:password@host, with or without slashes; a password may hold any of these signs, so all up to the last @.
    (re.compile(r""":[^\s'"]*@"""), ":***@"),
    (
        re.compile(r"""\b(\w*(?:password|passwd|pwd)\w*)\s*=\s*('[^']*'|"[^"]*"|[^\s&'"]+)""", re.IGNORECASE),
        r"\1=***",
    ),
)


LONGEST = 300
"""So many characters of a value are shown, at most."""


def without_password(text: str) -> str:
    """A text as others may see it: whatever a database URL or a list of settings holds as a password is hidden.

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
        super().__init__(*(without_password(one) if isinstance(one, str) else one for one in arguments))


class ParameterError(HoldfastError, ValueError):
    """A parameter is outside its range, or two parameters contradict each other."""


class AdjacencyError(ParameterError):
    """Two statements about different neighbour relations or privacy units were to be mixed."""


class DataError(HoldfastError, ValueError):
    """A table cannot be read as its schema says (wrong columns or shapes, never wrong values)."""


class NoIntervals(HoldfastError, ValueError):
    """A release does not say enough for an interval that covers; the message says why, and what would."""


class BudgetExceeded(HoldfastError):
    """A charge does not fit into what is left; nothing was spent and no noise was drawn."""


class UselessRelease(ParameterError):
    """What was asked for cannot be of use, as public numbers say; nothing was spent. `--even-if-useless` does it."""


class AlreadyReleased(HoldfastError):
    """This idempotency key was already used for a value that is no longer at hand."""


class FormatError(HoldfastError, ValueError):
    """A file is not what its format promises."""


class LedgerError(HoldfastError):
    """The ledger cannot be read, written or trusted; nothing was released."""


class NotWritten(HoldfastError):
    """A result was paid for and could not be written where it was wanted; it is kept, and its key finds it."""


class MissingExtra(HoldfastError, ImportError):
    """An optional dependency is needed; the message names the extra to install."""


class ExtensionError(HoldfastError):
    """An installed package registers something that cannot be taken; the message names the package."""


class AssumptionWarning(UserWarning):
    """The promise rests on something that holdfast could not check."""


class NotPrivateWarning(UserWarning):
    """The result carries no privacy promise (a seeded run, an un-noised value)."""


class ProbabilityWarning(UserWarning):
    """The probabilities that a model states are known to be off, by public numbers of its fit."""


class BudgetWarning(UserWarning):
    """The budget is being spent in a way that is easy to overlook."""


class UselessReleaseWarning(UserWarning):
    """The result cannot be of use, whatever the data are: public numbers say so before anything is spent."""


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
            f"{name} must be {must_be}, got {name}={_shown(value)}" + (f"; {way_out}" if way_out else "")
        )


def _shown(value: object) -> str:
    """A value as it is, and of an array, a frame or an error only the kind: these hold data."""
    holds_data = (hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0) or hasattr(value, "columns")
    text = type(value).__name__ if holds_data or isinstance(value, BaseException) else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


@contextmanager
def withholding(who: str, doing: str) -> Iterator[None]:
    """What another library says of a failure may quote data, so only the kind of its error is passed on.

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
