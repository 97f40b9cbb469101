"""Check: one named statement of a contract; and the assertions that contracts are made of.

No test runner is needed: a check is a call that returns nothing or raises `AssertionError` with a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import HoldfastError


@checked
@dataclass(frozen=True, kw_only=True)
class Check:
    """One statement that must hold of one object; a call checks it.

    Parameters
    ----------
    name : str
        The statement.
    run : callable
        Raises `AssertionError` where it does not hold.
    slow : bool
        Whether it takes more than a moment.

    Examples
    --------
    >>> Check(name="two is even", run=lambda: ensure(2 % 2 == 0, "two must be even"))()
    """

    name: str
    run: Callable[[], None]
    slow: bool = False
    """Whether it takes seconds rather than a moment."""

    def __call__(self) -> None:
        """Raise `AssertionError` where the statement does not hold; another error is one, too."""
        try:
            self.run()
        except AssertionError as error:
            raise AssertionError(f"{self.name}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{self.name}: {type(error).__name__}: {error}") from error


def run_all(subject: str, checks: Iterable[Check]) -> None:
    """Run every check, and raise at the end an error that lists those that fail.

    >>> run_all("numbers", [Check(name="two is odd", run=lambda: ensure(2 % 2 == 1, "it is even"))])
    Traceback (most recent call last):
    ...
    AssertionError: numbers breaks 1 of 1 checks
      two is odd: it is even
    """
    broken, count = [], 0
    for check in checks:
        count += 1
        try:
            check()
        except AssertionError as error:
            broken.append(error)
    if broken:
        lines = [f"{subject} breaks {len(broken)} of {count} checks", *(f"  {error}" for error in broken)]
        raise AssertionError("\n".join(lines)) from broken[0]


def ensure(condition: bool, message: str) -> None:
    """Raise `AssertionError` unless the condition holds; unlike `assert`, also under `python -O`."""
    if not condition:
        raise AssertionError(message)


def ensure_near(actual: float, expected: float, what: str, *, rel: float = 0.0, within: float = 0.0) -> None:
    """Raise unless the number is the expected one, up to a relative or an absolute distance."""
    gap = 0.0 if actual == expected else abs(actual - expected)
    ensure(gap <= max(rel * abs(expected), within), f"{what} is {actual!r}, expected {expected!r}")


def refusal_text(
    call: Callable[[], Any],
    what: str,
    *,
    kinds: tuple[type[Exception], ...] = (HoldfastError,),
    naming: str = "",
) -> str:
    """The message with which the call is refused; raise if it is not refused, or if `naming` is not in the message."""
    try:
        call()
    except kinds as error:
        message = str(error)
    else:
        raise AssertionError(f"{what} is not refused")
    ensure(naming in message, f"{what} is refused without naming {naming!r}: {message}")
    return message
