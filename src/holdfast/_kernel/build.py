"""The build of the C files into an extension module: setup.py runs this file, nothing imports it at run time."""

from __future__ import annotations

import sys
from pathlib import Path

import cffi

KERNEL_FOLDER = Path(__file__).parent
# Never fast-math, which may assume that no NaN exists; never -march=native, since a wheel must run on other machines;
# no fused multiply-add, which would give other bits on other machines.
COMPILER_FLAGS = (
    ["/O2", "/fp:precise"]
    if sys.platform == "win32"
    else ["-std=c99", "-O3", "-fno-fast-math", "-ffp-contract=off"]
)


def declarations(header: str) -> str:
    """The declarations that cffi reads: the header without its preprocessor lines."""
    return "\n".join(line for line in header.splitlines() if not line.startswith("#"))


ffibuilder = cffi.FFI()
C_FILES = ("sgd", "bregman", "lookup")
for name in C_FILES:
    ffibuilder.cdef(declarations((KERNEL_FOLDER / f"{name}.h").read_text(encoding="utf-8")))
ffibuilder.set_source(
    "holdfast._kernel._kernel",
    "\n".join(f'#include "{name}.h"' for name in C_FILES),
    sources=[f"src/holdfast/_kernel/{name}.c" for name in C_FILES],
    depends=[f"src/holdfast/_kernel/{name}.h" for name in C_FILES],
    include_dirs=["src/holdfast/_kernel"],
    extra_compile_args=COMPILER_FLAGS,
    libraries=[] if sys.platform == "win32" else ["m"],
    optional=True,  # without a compiler the install succeeds and the NumPy reference takes over
)
