"""Files of one JSON object a line, opened as jsonl:///folder/file.jsonl and read into memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.data import Schema, Table
from holdfast.data._engines.engine import Engine
from holdfast.data._engines.memory import connect as in_memory

PREFIX = "jsonl://"


def accepts(source: Any) -> bool:
    """What is nobody else's."""
    return isinstance(source, str) and source.startswith(PREFIX)


def connect(source: str, schema: Schema, **options: Any) -> Table:
    """A `Table` of every row; what a line does not have is missing, and no line may raise an error."""
    lines = Path(source.removeprefix(PREFIX)).read_text(encoding="utf-8").splitlines()
    rows = [_object(line) for line in lines if line.strip()]
    columns = {column.name: [row.get(column.name) for row in rows] for column in schema.columns}
    return in_memory(columns, schema, **options)


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


ENGINE = Engine(name="jsonlines", takes="jsonl:// URLs", accepts=accepts, connect=connect, reads_kinds=True)
