"""The insurer of a page: a role and a database that are found by the variables of every PostgreSQL client."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from tests.servers.postgres import Server


@contextmanager
def insurer(server: Server) -> Iterator[None]:
    """While it lasts, `postgresql://insurer@localhost/insurer` is a database of this server."""
    server.run("CREATE ROLE insurer LOGIN PASSWORD 'of the page'", "CREATE DATABASE insurer OWNER insurer")
    try:
        with patch.dict(os.environ, PGPORT=str(server.port), PGPASSWORD="of the page"):
            yield
    finally:
        server.run("DROP DATABASE insurer", "DROP ROLE insurer")
