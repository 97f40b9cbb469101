"""How the C kernel becomes an extension module; read by setup.py, never imported at run time."""

from __future__ import annotations

import sys
from pathlib import Path

import cffi

HERE = Path(__file__).parent
# Never fast-math (it may assume that no NaN exists), never -march=native (a wheel travels), and no
# fused multiply-add (it would change the bits between machines).
FLAGS = (
    ["/O2", "/fp:precise"]
    if sys.platform == "win32"
    else ["-std=c99", "-O3", "-fno-fast-math", "-ffp-contract=off"]
)


def declarations(header: str) -> str:
    """What cffi reads of the header: everything but the preprocessor's lines."""
    return "\n".join(line for line in header.splitlines() if not line.startswith("#"))


ffibuilder = cffi.FFI()
NAMES = ("sgd", "bregman", "lookup")
for name in NAMES:
    ffibuilder.cdef(declarations((HERE / f"{name}.h").read_text(encoding="utf-8")))
ffibuilder.set_source(
    "holdfast._kernel._kernel",
    "\n".join(f'#include "{name}.h"' for name in NAMES),
    sources=[f"src/holdfast/_kernel/{name}.c" for name in NAMES],
    depends=[f"src/holdfast/_kernel/{name}.h" for name in NAMES],
    include_dirs=["src/holdfast/_kernel"],
    extra_compile_args=FLAGS,
    libraries=[] if sys.platform == "win32" else ["m"],
    optional=True,  # without a compiler the install succeeds and the NumPy reference takes over
)
