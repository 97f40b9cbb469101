"""What tests of the PostgreSQL extension share: a compiler, where the library goes, and whether it is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

from holdfast.data._engines.postgres.extension import COMPILERS, SCHEMA_NAME
from tests.conftest import missing
from tests.servers.postgres import Server


def able_to_build(server: Server) -> Server:
    """The server, where there is a compiler to build for it."""
    if not any(map(shutil.which, COMPILERS)):
        missing("compiler", "install gcc or clang")
    return server


def folder(server: Server) -> Path:
    """Where the library goes."""
    return server.data / "holdfast"


def schemas(server: Server) -> list[str]:
    """Every schema that is ours."""
    with server.admin() as admin:
        found = admin.execute(f"SELECT nspname FROM pg_namespace WHERE nspname = '{SCHEMA_NAME}'")
        return [name for (name,) in found]
