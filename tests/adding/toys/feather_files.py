"""Files in Arrow's own format, opened as feather:///folder/file.arrow and read into memory."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.data._engines.engine import Engine
from holdfast.data._schema import Schema
from holdfast.data._table import Table

PREFIX = "feather://"


def accepts(source: Any) -> bool:
    """What is nobody else's."""
    return isinstance(source, str) and source.startswith(PREFIX)


def connect(source: str, schema: Schema, **options: Any) -> Table:
    """A table of every row, held in memory."""
    from pyarrow import feather

    from holdfast.data._engines.memory import connect as in_memory

    return in_memory(feather.read_table(source.removeprefix(PREFIX)), schema, **options)


def put(rows: Any, folder: Path) -> Mapping[str, Any]:
    """A file of its own for every table."""
    from pyarrow import feather

    path = folder / f"{uuid.uuid4().hex}.arrow"
    feather.write_feather(rows, str(path))
    return {"source": f"{PREFIX}{path}"}


FEATHER = Engine(
    name="feather",
    takes="feather:// URLs",
    accepts=accepts,
    connect=connect,
    reads_kinds=True,
    put=put,
)
