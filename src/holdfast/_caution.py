"""Cautions: warnings that name the line that called holdfast, once for each line.

A warning may arise deep inside a fit, with scikit-learn between the caller and holdfast; it still names the caller's
line. Python forgets which lines it has warned whenever a library changes the warning filters, as most do while they
fit. Here these lines are remembered, so that a loop over fits warns once.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from types import FrameType

_PACKAGE_FOLDER = str(Path(__file__).parent)
_LIBRARIES_BETWEEN = (
    "sklearn",
    "joblib",
    "contextlib",
    "functools",
    "threading",
    "concurrent",
    "multiprocessing",
)
"""Packages that call holdfast on behalf of the caller."""
_warned: set[tuple[str, type[Warning], str, int]] = set()


def caller() -> FrameType:
    """The frame of the first caller that is neither holdfast nor a library in between, or else the outermost frame."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame):
        frame = frame.f_back
    return frame


def _is_between(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE_FOLDER) or package in _LIBRARIES_BETWEEN


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the caller's line, unless the same was warned there before and Python's filters want it only once."""
    frame = caller()
    module, file, line = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, frame.f_lineno
    warning_key = (message, category, file, line)
    if _action(message, category, module, line) in ("default", "module", "once"):
        if warning_key in _warned:
            return
        _warned.add(warning_key)
    warnings.warn_explicit(message, category, file, line, module=module, registry={})


def _filter_matches(pattern: re.Pattern[str] | str | None, text: str) -> bool:
    """Whether the pattern of a filter matches; None matches all, and Python's own filters hold plain texts."""
    return pattern is None or (
        pattern == text if isinstance(pattern, str) else pattern.match(text) is not None
    )


def _action(message: str, category: type[Warning], module: str, line: int) -> str:
    """The action of the first filter that matches a warning, as Python finds it."""
    for action, text, kind, where, number in warnings.filters:
        matches = _filter_matches(text, message) and _filter_matches(where, module)
        if matches and issubclass(category, kind) and number in (0, line):
            return action
    return str(getattr(warnings, "defaultaction", "default"))
