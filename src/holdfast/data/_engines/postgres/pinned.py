"""The search path of PostgreSQL, pinned to its own catalogue before the first query of a connection.

Whoever may create objects in a schema on somebody's search path can put a function, an operator or a type there that
PostgreSQL prefers to its own, and that then runs with the rights of the other user. So the path is an option of the
connection itself (the driver asks for types before it returns the connection), and the first statement of every session
sets it again, for servers behind a pool that drops such options. Tables are named with their schemas.

A session's own temporary objects would be found first if the path did not name them last.
"""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from holdfast.errors import ParameterError

SEARCH_PATH = "pg_catalog, pg_temp"
PIN_PATH = f"SET search_path = {SEARCH_PATH}"
PIN_PATH_LOCALLY = f"SET LOCAL search_path = {SEARCH_PATH}"
_PATH_OPTION = f"-c search_path={SEARCH_PATH.replace(' ', '')}"


def with_pinned_path(url: str) -> str:
    """The URL with the path as the last option of the connection, which counts, after those of URL or PGOPTIONS.

    >>> with_pinned_path("postgresql://ann@host/clinic?options=-c%20jit%3Doff")
    'postgresql://ann@host/clinic?options=-c%20jit%3Doff%20-c%20search_path%3Dpg_catalog%2Cpg_temp'
    """
    parts = urlsplit(url)
    pairs = [pair for pair in parts.query.split("&") if pair]
    option_texts = [unquote(pair.partition("=")[2]) for pair in pairs if _name(pair) == "options"]
    earlier = option_texts[-1] if option_texts else os.environ.get("PGOPTIONS", "")
    if earlier.endswith("\\"):
        raise ParameterError(
            "options of the connection must not end in a backslash: it would swallow what follows"
        )
    options = f"{earlier} {_PATH_OPTION}".strip()
    rest = [pair for pair in pairs if _name(pair) != "options"]
    return urlunsplit(parts._replace(query="&".join([*rest, f"options={quote(options, safe='')}"])))


def _name(pair: str) -> str:
    return unquote(pair.partition("=")[0])
