"""Work that is done a secret number of times shows nothing meanwhile: no warning, no progress bar, no log record.

Each of these would be counted by whoever watches. What they would say is said before, once, where it is public.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast._progress import bars_hidden


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is shown for as long as the block lasts, whoever would show it.

    >>> with silence():
    ...     warnings.warn("seen by nobody")
    """
    token = bars_hidden.set(True)
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
        bars_hidden.reset(token)
