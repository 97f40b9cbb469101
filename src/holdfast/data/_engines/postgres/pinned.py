"""The path on which PostgreSQL looks for names, pinned before anything is asked: to its own catalogue.

Whoever may create in a schema on somebody's path can put a function, an operator or a type there that fits better than
PostgreSQL's own, and it then runs with the rights of whoever asks. So the path is part of the connection itself (the
driver asks for types before it hands the connection over), and the first statement of every session says it again,
for servers behind a pool that drops such options. Tables are named with their schemas.

A session's own temporary objects would be looked for first if the path did not name them last.
"""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from holdfast.errors import ParameterError

PATH = "pg_catalog, pg_temp"
PIN = f"SET search_path = {PATH}"
PIN_LOCALLY = f"SET LOCAL search_path = {PATH}"
_OPTION = f"-c search_path={PATH.replace(' ', '')}"


def with_pinned_path(url: str) -> str:
    """The URL with the path as an option of the connection, after those that it or PGOPTIONS has: the last one counts.

    >>> with_pinned_path("postgresql://ann@host/clinic?options=-c%20jit%3Doff")
    'postgresql://ann@host/clinic?options=-c%20jit%3Doff%20-c%20search_path%3Dpg_catalog%2Cpg_temp'
    """
    parts = urlsplit(url)
    pairs = [pair for pair in parts.query.split("&") if pair]
    given = [unquote(pair.partition("=")[2]) for pair in pairs if _name(pair) == "options"]
    before = given[-1] if given else os.environ.get("PGOPTIONS", "")
    if before.endswith("\\"):
        raise ParameterError(
            "options of the connection must not end in a backslash: it would swallow what follows"
        )
    options = f"{before} {_OPTION}".strip()
    rest = [pair for pair in pairs if _name(pair) != "options"]
    return urlunsplit(parts._replace(query="&".join([*rest, f"options={quote(options, safe='')}"])))


def _name(pair: str) -> str:
    return unquote(pair.partition("=")[0])
