"""Permutation SGD, compiled: one C file for Python and for PostgreSQL.

`start(options)` gives a run that takes rows in chunks of any size. It is the un-noised half of
bolt-on SGD: what it returns is private data until a mechanism has released it.

`implementation` says what runs: "c", or "numpy" where the C file was not compiled or the
environment says HOLDFAST_KERNEL=numpy. HOLDFAST_KERNEL=c makes a missing C file an error.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast._kernel.options import SgdOptions, SgdRun, Status, StepSize
from holdfast.errors import MissingExtra, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from holdfast._kernel.options import FloatArray

    implementation: str

__all__ = [
    "SgdOptions",
    "SgdRun",
    "Status",
    "StepSize",
    "clip",
    "implementation",
    "implementation_module",
    "start",
]


@cache
def _loaded(wanted: str) -> tuple[str, Any]:
    require(wanted in ("", "c", "numpy"), "HOLDFAST_KERNEL", wanted, "'c', 'numpy' or unset")
    if wanted != "numpy":
        try:
            return "c", import_module("holdfast._kernel.native")
        except ImportError as error:
            if wanted == "c":
                raise MissingExtra(
                    "HOLDFAST_KERNEL=c, but the C kernel is not compiled; install a C compiler, then holdfast"
                ) from error
    return "numpy", import_module("holdfast._kernel.reference")


def implementation_module() -> tuple[str, Any]:
    """What runs, "c" or "numpy", and the module that holds it."""
    return _loaded(os.environ.get("HOLDFAST_KERNEL", ""))


def __getattr__(name: str) -> str:
    if name == "implementation":
        return implementation_module()[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def start(options: SgdOptions, weights: ArrayLike | None = None) -> SgdRun:
    """A run at its first step, from `weights` (public; zero if not given) projected on the ball.

    >>> options = SgdOptions(dimension=2, batch=2, step_size=StepSize(cap=1.0))
    >>> run = start(options)
    >>> run.feed([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]], [1, -1, 1])
    <Status.OK: 0>
    >>> run.final().round(4)
    array([ 0.4037, -0.045 ])
    """
    name, module = implementation_module()
    run: SgdRun = (module.NativeSgd if name == "c" else module.ReferenceSgd)(options, weights)
    return run


def clip(rows: ArrayLike, *, row_norm: float) -> FloatArray:
    """Each row scaled down to L2 norm at most row_norm * (1 + 1e-9), as the pass sees it.

    Rows that are not finite become zero; sizes near the ends of the float range are handled.

    >>> import numpy as np
    >>> clip([[3.0, 4.0], [0.3, 0.4], [1e308, 0.0], [np.inf, 1.0]], row_norm=1.0)
    array([[0.6, 0.8],
           [0.3, 0.4],
           [1. , 0. ],
           [0. , 0. ]])
    """
    import numpy as np

    require(1e-100 <= row_norm <= 1e100, "row_norm", row_norm, "in [1e-100, 1e100]")
    clipped: FloatArray = implementation_module()[1].clip(
        np.atleast_2d(np.asarray(rows, dtype=np.float64)), row_norm
    )
    return clipped
