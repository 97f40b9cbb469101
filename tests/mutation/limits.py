"""A plugin for pytest: a test that takes more than a minute of processor time ends its process, as a fault may."""

from __future__ import annotations

import signal
from collections.abc import Generator
from typing import Any

import pytest

SECONDS = 60.0
STUCK = 600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """One test."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(STUCK)
    answer = yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.alarm(0)
    return answer
