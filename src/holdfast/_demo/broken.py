"""The demo with a third of the declared noise, which shows how a fault appears on the page.

Charges, curves, ledger and certificates are unchanged. Only the audit can notice the fault, because it looks at what is
released. This is for the bundled public data only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.noise._source import Source
from holdfast.privacy._mechanisms.gaussian import Gaussian

NOISE_DIVISOR = 3.0


@contextmanager
def too_little_noise() -> Iterator[None]:
    """Within the context every Gaussian release gets a third of the noise that it declares."""
    sound_sample = Gaussian.sample

    def sample_with_little_noise(self: Gaussian, value: NDArray[Any], source: Source) -> NDArray[Any]:
        noise = (sound_sample(self, value, source) - value) / NOISE_DIVISOR
        return np.asarray(value + (np.rint(noise).astype(np.int64) if value.dtype == np.int64 else noise))

    Gaussian.sample = sample_with_little_noise  # type: ignore[method-assign]
    try:
        yield
    finally:
        Gaussian.sample = sound_sample  # type: ignore[method-assign]
