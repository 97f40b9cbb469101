"""What is pinned of a connection to PostgreSQL before anything is asked.

Whoever may create in a schema on somebody's path can put a function, an operator or a type there that fits better than
PostgreSQL's own, and it then runs with the rights of whoever asks. So the path is part of the connection itself (the
driver asks for types before it hands the connection over), and the first statement of every session says it again,
for servers behind a pool that drops such options. Tables are named with their schemas. A session's own temporary
objects would be looked for first if the path did not name them last.

The other settings keep the server from running what is attached to tables: with `row_security` off a query to which
policies apply is refused and none of them runs, and with `constraint_exclusion` off no constraint is computed to plan a
query.
"""

from __future__ import annotations

import os
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from holdfast.errors import ParameterError

SEARCH_PATH = "pg_catalog, pg_temp"
PINS = {
    "search_path": SEARCH_PATH,
    "row_security": "off",
    "constraint_exclusion": "off",
    "transform_null_equals": "off",
    "standard_conforming_strings": "on",
}
READ_ONLY = {"default_transaction_read_only": "on"}


def pin_statements(*, local: bool) -> list[str]:
    """The same as statements: of a transaction, or of the whole session."""
    return [f"SET {'LOCAL ' * local}{name} = {value}" for name, value in PINS.items()]


def with_pins(url: str, *, read_only: bool) -> str:
    """The URL with the pins as options of the connection, after those that it or PGOPTIONS has: the last one counts.

    >>> with_pins("postgresql://ann@host/clinic?options=-c%20jit%3Doff", read_only=True)[-39:]
    '-c%20default_transaction_read_only%3Don'
    """
    parts = urlsplit(url)
    pairs = [pair for pair in parts.query.split("&") if pair]
    option_texts = [unquote(pair.partition("=")[2]) for pair in pairs if _name(pair) == "options"]
    earlier = option_texts[-1] if option_texts else os.environ.get("PGOPTIONS", "")
    if earlier.endswith("\\"):
        raise ParameterError(
            "options of the connection must not end in a backslash: it would swallow what follows"
        )
    pins = PINS | (READ_ONLY if read_only else {})
    options = " ".join([earlier, *(f"-c {name}={value.replace(' ', '')}" for name, value in pins.items())])
    rest = [pair for pair in pairs if _name(pair) != "options"]
    return urlunsplit(parts._replace(query="&".join([*rest, f"options={quote(options.strip(), safe='')}"])))


def _name(pair: str) -> str:
    return unquote(pair.partition("=")[0])
