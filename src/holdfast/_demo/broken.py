"""The demo with a third of the noise that it declares: what a fault looks like on the page.

Everything else is as it should be: charges, curves, ledger and certificates say what they always say. Only the audit
can notice, because it looks at what comes out. For the bundled public data, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.noise._source import Source
from holdfast.privacy._mechanisms.gaussian import Gaussian

DIVISOR = 3.0


@contextmanager
def too_little_noise() -> Iterator[None]:
    """Within it, every Gaussian release has its noise divided by three and still declares the whole of it."""
    honest = Gaussian.sample

    def halved(self: Gaussian, value: NDArray[Any], source: Source) -> NDArray[Any]:
        noise = (honest(self, value, source) - value) / DIVISOR
        return np.asarray(value + (np.rint(noise).astype(np.int64) if value.dtype == np.int64 else noise))

    Gaussian.sample = halved  # type: ignore[method-assign]
    try:
        yield
    finally:
        Gaussian.sample = honest  # type: ignore[method-assign]
