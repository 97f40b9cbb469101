"""How a command ends: one line and an exit code for every error, never a traceback and never a value from the data.

Exit codes: 0 fine, 1 a finding, 2 bad usage or input, 3 budget exceeded, 130 interrupted, 143 and 129 terminated.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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


@dataclass
class _Interruption:
    """Whether a signal ended the command, and the exit code that says which."""

    happened: bool = False
    exit_code: int = INTERRUPTED_EXIT


_interruption = _Interruption()


class CommandError(click.ClickException):
    """An error of one line, with the exit code that the command ends with."""

    def __init__(self, message: str, *, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn whatever goes wrong inside into one line and an exit code.

    Ctrl-C wins: a library that was in the middle of something may have turned it into an error of its own.
    """
    try:
        yield
    except (click.exceptions.Exit, SystemExit, BrokenPipeError):
        raise
    except (KeyboardInterrupt, EOFError, click.Abort):
        _end_interrupted()
    except Exception as error:
        if _interruption.happened:
            _end_interrupted()
        if isinstance(error, click.ClickException):
            error.__dict__["message"] = without_password(error.message)  # a URL in the place of a file
            error.args = (error.message,)
            raise error from None  # and what click met before it, where the URL stands once more
        if not isinstance(error, HoldfastError | OSError) and os.environ.get(TRACEBACK_VARIABLE):
            raise
        raise command_error(error) from None


def command_error(error: Exception) -> CommandError:
    """The line and the exit code that a user gets for an error.

    >>> command_error(ValueError("somebody's name")).message
    'an unexpected ValueError ended the command; ...
    """
    match error:
        case BudgetExceeded():
            return CommandError(str(error), code=3)
        case HoldfastError():
            return CommandError(str(error), code=2)
        case OSError(errno=int(number)):
            # The operating system's message for a number holds no data. An OSError without a number is a library's own
            # text, which may quote data, and falls through to the end.
            place = "" if error.filename is None else f": {without_password(str(error.filename))}"
            return CommandError(f"{os.strerror(number)}{place}", code=2)
        case MemoryError():
            return CommandError("there is not enough memory for this; nothing more was spent", code=2)
    return CommandError(
        f"an unexpected {type(error).__name__} ended the command; its message is withheld, because it may quote data. "
        f"What was charged is in the ledger. {TRACEBACK_VARIABLE}=1 shows where it came from: please report it",
        code=2,
    )


def _end_interrupted() -> NoReturn:
    click.echo("interrupted", err=True)
    raise click.exceptions.Exit(_interruption.exit_code) from None


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Let Ctrl-C end the command with 130 at any time, also while arguments are read and while Python ends.

    SIGTERM and SIGHUP end it in the same way, each with its own code.

    A signal that is ignored, as under nohup, stays ignored.
    """

    def end_command(number: int, frame: FrameType | None) -> None:
        _interruption.happened, _interruption.exit_code = True, 128 + number
        signal.default_int_handler(number, frame)

    numbers = [getattr(signal, name) for name in _ENDING_SIGNALS if hasattr(signal, name)]
    handled = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    for number in handled:
        signal.signal(number, end_command)
    try:
        yield
    except SystemExit as end:
        # Where click is interrupted itself it answers with a code of its own.
        if _interruption.happened and end.code:
            _exit_at_once()
        raise
    except KeyboardInterrupt:
        _exit_at_once()
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_IGN)  # all is done but tidying up


def _exit_at_once() -> NoReturn:
    """End the process without waiting for an engine's threads, which may still be in the middle of rows.

    Work folders that they hold on the disk are removed.
    """
    delete_all()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_interruption.exit_code)


class ClosableOutput:
    """An output stream whose reader may leave: `holdfast ... | head` works on in silence to its own exit code.

    An error while writing is raised, except on a `last_resort` such as standard error: what it does not take is lost,
    since there is no other place to complain.
    """

    def __init__(self, stream: TextIO, *, last_resort: bool = False) -> None:
        self._stream = stream
        self._last_resort = last_resort

    def write(self, text: str) -> int:
        """Write a text; once the reader is gone, count it as written."""
        if text == "":
            return 0  # only a question whether this takes texts
        try:
            return self._stream.write(text)
        except OSError as error:
            self._discard_output(error)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, if its reader is still there."""
        try:
            self._stream.flush()
        except OSError as error:
            self._discard_output(error)

    def _discard_output(self, error: OSError) -> None:
        """Send what follows to the null device, so that Python does not try again when it ends."""
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, self._stream.fileno())
        os.close(null_device)
        if not isinstance(error, BrokenPipeError) and not self._last_resort:
            raise OSError(error.errno, error.strerror, "standard output") from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def guard_output() -> None:
    """Let standard output and error take any text, also one with undecodable bytes, and be closed by their reader."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            with suppress(AttributeError, OSError):
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, ClosableOutput(stream, last_resort=name == "stderr"))
