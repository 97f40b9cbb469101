"""Loops over rows that have to be fast, in C with the same in NumPy: permutation SGD, and sums over rows.

`start(options)` begins a run of permutation SGD, which takes rows in chunks of any size; the same C file (sgd.c) runs
inside PostgreSQL. `lookup` sums over rows whose features are looked up in tables, `sparse_rows` over rows that are
mostly 0, and `bregman` over rows for the Gibbs sampler. No function here adds noise: its results are private until a
mechanism has released them.

`implementation` says which code runs: "c", or "numpy" where the C files were not compiled or the environment variable
HOLDFAST_KERNEL is numpy. With HOLDFAST_KERNEL=c, missing C code is an error.
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
def _load_implementation(choice: str) -> tuple[str, Any]:
    require(choice in ("", "c", "numpy"), "HOLDFAST_KERNEL", choice, "'c', 'numpy' or unset")
    if choice != "numpy":
        try:
            return "c", import_module("holdfast._kernel.native")
        except ImportError as error:
            if choice == "c":
                raise MissingExtra(
                    "HOLDFAST_KERNEL=c, but the C kernel is not compiled; install a C compiler, then holdfast"
                ) from error
    return "numpy", import_module("holdfast._kernel.reference")


def implementation_module() -> tuple[str, Any]:
    """Which code runs, "c" or "numpy", and the module with its permutation SGD."""
    return _load_implementation(os.environ.get("HOLDFAST_KERNEL", ""))


def __getattr__(name: str) -> str:
    if name == "implementation":
        return implementation_module()[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def start(options: SgdOptions, weights: ArrayLike | None = None) -> SgdRun:
    """A run of permutation SGD before its first step, at public `weights` (by default 0) projected onto the ball.

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
    """Each row scaled down to an L2 norm of at most row_norm * (1 + 1e-9), as permutation SGD clips it.

    Rows that are not finite become zero. Numbers near the limits of the float range are clipped correctly, too.

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
