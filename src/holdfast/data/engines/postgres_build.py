"""The extension's C source, its version, and the one compiler line that makes a shared library of it.

The library is built from the very kernel that Python compiles (kernel/sgd.c), against the running server's headers.
No makefile of PostgreSQL is used: it would ask for the compiler and the warnings of whoever packaged the server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import holdfast.kernel
from holdfast.errors import DataError, MissingExtra

KERNEL = Path(holdfast.kernel.__file__).parent
SOURCES = ("sgd.h", "sgd.c", "postgres/holdfast_sgd.c")
#: As for Python's kernel: never fast-math, no fused multiply-add, nothing of this machine only. The rest is what
#: PostgreSQL itself is compiled with.
FLAGS = (
    "-std=gnu99", "-O3", "-fPIC", "-fno-fast-math", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv",
)  # fmt: skip
COMPILERS = ("gcc", "clang", "cc")
_SHARED = {"darwin": ("-bundle", "-undefined", "dynamic_lookup")}
_SECONDS = 300


@cache
def version() -> str:
    """A digest of the source: two builds of the same version compute the same bits.

    >>> len(version())
    16
    """
    made = sha256()
    for name in SOURCES:
        made.update((KERNEL / name).read_bytes())
    return made.hexdigest()[:16]


def find_compiler(asked: str | None = None) -> str:
    """The C compiler: as asked for, $CC, or the first that is installed."""
    given = asked or os.environ.get("CC")
    found = next(filter(None, map(shutil.which, (given,) if given else COMPILERS)), None)
    if found is None:
        raise MissingExtra(
            f"a C compiler is needed ({given or ' or '.join(COMPILERS)}) and was not found; install one (Debian: "
            "apt-get install gcc), or name it: --compiler PATH"
        )
    return found


def find_headers(reported: Mapping[str, str], *, major: int, pg_config: str | None = None) -> Path:
    """The folder with `postgres.h` of the running server, as it reports or as a local `pg_config` says.

    A `pg_config` of another major version is refused: its headers compile, and the library then fails to load.
    """
    places = [] if pg_config else [Path(reported.get("INCLUDEDIR-SERVER", ""))]
    program = shutil.which(pg_config or "pg_config")
    if pg_config and program is None:
        raise DataError(f"pg_config must be a program, got pg_config={pg_config!r}")
    if program is not None:
        said = _said(program, "--version").partition(" ")[2]
        if said.partition(".")[0] == str(major):
            places.append(Path(_said(program, "--includedir-server")))
        elif pg_config:
            raise DataError(
                f"pg_config must be of PostgreSQL {major}, as the server is; {pg_config!r} is of {said}"
            )
    for place in places:
        if (place / "postgres.h").is_file():
            return place
    raise MissingExtra(
        f"the server's C headers (postgres.h of PostgreSQL {major}) were not found on this machine; install them "
        f"(Debian: apt-get install postgresql-server-dev-{major}), or name their pg_config: --pg-config PATH"
    )


def _said(program: str, option: str) -> str:
    try:
        return subprocess.run(
            [program, option], check=True, capture_output=True, text=True, timeout=30
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def build(target: Path, *, compiler: str, headers: Path) -> None:
    """Compile the extension to this file."""
    line = [
        compiler, *FLAGS, *_SHARED.get(sys.platform, ("-shared",)), f'-DHOLDFAST_VERSION="{version()}"',
        f"-I{headers}", str(KERNEL / "postgres" / "holdfast_sgd.c"), "-o", str(target), "-lm",
    ]  # fmt: skip
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        raise DataError(f"the compiler {compiler!r} could not be run") from None
    if done.returncode != 0:
        said = next((text for text in done.stderr.splitlines() if "error" in text), "it gave no reason")
        raise DataError(f"the compiler {compiler!r} refused the extension: {said}")
