"""One reader and one file, in a process of its own, under limits of memory and time that follow from the file's size.

Twenty times the size and 64 MB; two seconds of processor time and two more for every megabyte. Memory is limited by the
operating system, so what a library takes counts like what Python takes, touched or not. Whoever asks for more gets an
error; that a reader catches it and calls the file a bad one is no excuse, so every error is searched for it.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from holdfast.errors import HoldfastError

GROWTH, FREE_BYTES = 20, 64 * 2**20
FREE_SECONDS, SECONDS_A_MEGABYTE, MOST_SECONDS_WAITED = 2.0, 2.0, 60.0


@dataclass(frozen=True)
class Ending:
    """How a reader ended: `words` are "fine", the name of an error of holdfast's, or begin with WRONG."""

    words: str
    peak_bytes: int = 0
    """More than the process had when it began, as far as it was touched."""
    seconds: float = 0.0

    @property
    def wrong(self) -> bool:
        """Whether it ended in anything but well or in an error of holdfast's own, within its limits."""
        return self.words.startswith("WRONG")


def ended(use: Callable[[Path], object], path: Path) -> Ending:
    """Let a fork read a file under the limits of its size."""
    size = path.stat().st_size
    ctypes.CDLL(None).malloc_trim(0)  # what earlier files left free would be nobody's
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _read(use, path, size, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status, used = os.wait4(child, 0)
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        reasons = {
            "SIGPROF": "took too long",
            "SIGALRM": "waited",
            "SIGSEGV": "crashed",
            "SIGABRT": "crashed",
        }
        return Ending(f"WRONG: it {reasons.get(name, name)}", 0, seconds)
    words, peak = json.loads(said) if said else (f"WRONG: it left with {status}", 0)
    return Ending(words, peak, seconds)


def _read(use: Callable[[Path], object], path: Path, size: int, answer: int) -> NoReturn:
    try:
        before = _memory("VmRSS")
        most = _memory("VmData") + GROWTH * size + FREE_BYTES
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, FREE_SECONDS + SECONDS_A_MEGABYTE * size / 2**20)
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS_WAITED * (1 + size / 2**20))
        words = _words(use, path)
        os.write(answer, json.dumps([words, max(0, _memory("VmHWM") - before)]).encode())
    finally:
        os._exit(0)


def _words(use: Callable[[Path], object], path: Path) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(path)
        return "fine"
    except HoldfastError as error:
        return (
            "WRONG: too much memory, and an error that hides it"
            if _of_memory(error)
            else type(error).__name__
        )
    except MemoryError:
        return "WRONG: too much memory"
    except BaseException as error:
        return f"WRONG: {type(error).__name__}: {str(error)[:100]}"


def _of_memory(error: BaseException) -> bool:
    """Whether it came of an error that memory could not be had, however deep."""
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None:
            words = str(one)
            if (
                isinstance(one, MemoryError)
                or "MemoryError" in words
                or "alloc" in words
                or "ut of memory" in words
            ):
                return True
            waiting += [one.__cause__, one.__context__]
    return False


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)
