"""How a command ends: one line and an exit code for every error, never a traceback and never a value from the data.

Exit codes: 0 fine, 1 a finding, 2 bad usage or input, 3 budget exceeded, 130 interrupted, 143 and 129 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from holdfast.data._work_folder import delete_all
from holdfast.errors import BudgetExceeded, HoldfastError, without_password

INTERRUPTED_EXIT = 130
"""As shells count a process that ended by Ctrl-C: 128 and the number of the signal."""
_ENDING_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that end a command as Ctrl-C does: whatever it holds is given back first."""
TRACEBACK_VARIABLE = "HOLDFAST_TRACEBACK"
"""Set in the environment, an error that holdfast does not know is shown whole; it may quote data."""
_seen = {"interrupt": False, "code": INTERRUPTED_EXIT}


class Refused(click.ClickException):
    """An error with its exit code."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]


@contextmanager
def one_line() -> Iterator[None]:
    """Whatever goes wrong inside is said in one line.

    Ctrl-C wins: a library that was in the middle of something may have turned it into an error of its own.
    """
    try:
        yield
    except (click.exceptions.Exit, SystemExit, BrokenPipeError):
        raise
    except (KeyboardInterrupt, EOFError, click.Abort):
        _end_interrupted()
    except Exception as error:
        if _seen["interrupt"]:
            _end_interrupted()
        if isinstance(error, click.ClickException):
            error.__dict__["message"] = without_password(error.message)  # a URL in the place of a file
            error.args = (error.message,)
            raise error from None  # and what click met before it, where the URL stands once more
        if not isinstance(error, HoldfastError | OSError) and os.environ.get(TRACEBACK_VARIABLE):
            raise
        raise said_of(error) from None


def said_of(error: Exception) -> Refused:
    """What is said of an error.

    >>> said_of(ValueError("somebody's name")).message
    'an unexpected ValueError ended the command; ...
    """
    match error:
        case BudgetExceeded():
            return Refused(str(error), code=3)
        case HoldfastError():
            return Refused(str(error), code=2)
        case OSError(errno=int(number)):
            # The operating system's own words hold no data; an OSError that a library made up has no number.
            place = "" if error.filename is None else f": {without_password(str(error.filename))}"
            return Refused(f"{os.strerror(number)}{place}", code=2)
        case MemoryError():
            return Refused("there is not enough memory for this; nothing more was spent", code=2)
    return Refused(
        f"an unexpected {type(error).__name__} ended the command; its message is withheld, because it may quote data. "
        f"What was charged is in the ledger. {TRACEBACK_VARIABLE}=1 shows where it came from: please report it",
        code=2,
    )


def _end_interrupted() -> NoReturn:
    click.echo("interrupted", err=True)
    raise click.exceptions.Exit(_seen["code"]) from None


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C at any time ends with 130, also while arguments are read and while Python ends; SIGTERM and SIGHUP alike.

    A signal that is ignored, as under nohup, stays ignored.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        _seen.update(interrupt=True, code=128 + number)
        signal.default_int_handler(number, frame)

    numbers = [getattr(signal, name) for name in _ENDING_SIGNALS if hasattr(signal, name)]
    watched = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    for number in watched:
        signal.signal(number, interrupted)
    try:
        yield
    except SystemExit as end:
        # Where click is interrupted itself it answers with a code of its own.
        if _seen["interrupt"] and end.code:
            _leave()
        raise
    except KeyboardInterrupt:
        _leave()
    finally:
        for number in watched:
            signal.signal(number, signal.SIG_IGN)  # all is done but tidying up


def _leave() -> NoReturn:
    """At once: an engine's threads may still be in the middle of rows, and cannot be waited for.

    What they hold on the disk is removed.
    """
    delete_all()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_seen["code"])


class Pipe:
    """Standard output whose reader may leave: `holdfast ... | head` works on in silence to its own exit code.

    What is said on a `last_resort` that takes nothing is lost: there is no other place to complain.
    """

    def __init__(self, stream: TextIO, *, last_resort: bool = False) -> None:
        self._stream = stream
        self._last_resort = last_resort

    def write(self, text: str) -> int:
        """As much as the stream takes; all of it once its reader is gone."""
        if text == "":
            return 0  # only a question whether this takes texts
        try:
            return self._stream.write(text)
        except OSError as error:
            self._let_go(error)
        return len(text)

    def flush(self) -> None:
        """Nothing is left to write once the reader is gone."""
        try:
            self._stream.flush()
        except OSError as error:
            self._let_go(error)

    def _let_go(self, error: OSError) -> None:
        """Write what follows to nowhere, so that Python does not try again when it ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError) and not self._last_resort:
            raise OSError(error.errno, error.strerror, "standard output") from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_output() -> None:
    """Standard output and error take every text, also one with bytes that are no text, and may be closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            with suppress(AttributeError, OSError):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, Pipe(stream, last_resort=name == "stderr"))
