"""Signals in processes that tests start."""

from __future__ import annotations

import signal


def hear_signals() -> None:
    """What started the tests may ignore signals (`nohup`), and what it starts would, too."""
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
