"""Cautions: a warning stands at the line of whoever called holdfast, and once for each line.

However deep inside a fit something is noticed, and whatever scikit-learn stands in between, the line that is shown is
the caller's. Python forgets which lines were warned whenever a library touches the filters, as most do while they fit;
here it is remembered, so that a loop over fits says what it has to say once.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from types import FrameType

_OURS = str(Path(__file__).parent)
_BETWEEN = ("sklearn", "joblib", "contextlib", "functools", "threading", "concurrent", "multiprocessing")
"""Modules that call holdfast on behalf of somebody."""
_said: set[tuple[str, type[Warning], str, int]] = set()


def caller() -> FrameType:
    """The frame of the first caller that is neither holdfast nor a library in between; else the outermost."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _passes_on(frame):
        frame = frame.f_back
    return frame


def _passes_on(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_OURS) or package in _BETWEEN


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the caller's line, unless it was warned of the same before and Python's filters want to hear it once."""
    frame = caller()
    module, file, line = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, frame.f_lineno
    place = (message, category, file, line)
    if _action(message, category, module, line) in ("default", "module", "once"):
        if place in _said:
            return
        _said.add(place)
    warnings.warn_explicit(message, category, file, line, module=module, registry={})


def _admits(pattern: re.Pattern[str] | str | None, text: str) -> bool:
    """Of a filter: nothing admits all, and the filters that Python starts with hold plain texts."""
    return pattern is None or (
        pattern == text if isinstance(pattern, str) else pattern.match(text) is not None
    )


def _action(message: str, category: type[Warning], module: str, line: int) -> str:
    """What the filters say of a warning, as Python asks them."""
    for action, text, kind, where, number in warnings.filters:
        matches = _admits(text, message) and _admits(where, module)
        if matches and issubclass(category, kind) and number in (0, line):
            return action
    return str(getattr(warnings, "defaultaction", "default"))
