"""Progress bars, by tqdm: shown in notebooks and on terminals, and not in a pipe.

A bar counts public steps, whose number is fixed in advance, and nothing about the data. Work of less than half a second
shows no bar, and a bar disappears when the work is done. `TQDM_DISABLE=1` switches bars off.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from contextvars import ContextVar
from functools import partial
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a notebook without ipywidgets: no bar, and no reason to speak of it
    from tqdm.auto import tqdm


bars_hidden: ContextVar[bool] = ContextVar("bars_hidden", default=False)
"""Whether bars are hidden, since how many there are would tell something (`holdfast._silence`)."""


class Progress(tqdm):
    """A tqdm bar that starts no thread and sets no start method for processes: a fit has no side effects."""

    monitor_interval = 0
    _lock = threading.RLock()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if bars_hidden.get():
            options["disable"] = True
        super().__init__(*arguments, **options)


progress = partial(
    Progress,
    delay=0.5,
    leave=False,
    miniters=1,
    # None: where standard error is a terminal, or in a notebook. A process may have no standard error at all.
    disable=bool(os.environ.get("TQDM_DISABLE")) or sys.stderr is None or None,
)
"""`for step in progress(range(40), desc="fitting")`, or `with progress(desc="fitting", total=40) as bar`."""
