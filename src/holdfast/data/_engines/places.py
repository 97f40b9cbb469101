"""The place on the disk of a source that is given as a text: a file, a folder, a pattern, or the file of a URL."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.data._engines.file_rows import is_data_file

DUCKDB_SCHEME = "duckdb://"


def local_place(source: str | os.PathLike[str]) -> Path | None:
    """The file, folder or pattern that a source is read from; None for a server's table and a URL without a file.

    >>> print(local_place("clinic.parquet"), local_place("duckdb:///clinic.db?table=visits"))
    clinic.parquet clinic.db
    >>> print(local_place("postgresql://ann@host/clinic?table=visits"), local_place("duckdb://clinic.db?table=visits"))
    None None
    """
    text = os.fspath(source)
    if text.startswith(DUCKDB_SCHEME):
        file = database_file(text)
        return None if not file or os.path.isdir(file) else Path(file)
    return None if "://" in text else Path(text)


def database_file(url: str) -> str:
    """The file of a DuckDB URL. As with SQLite URLs, three slashes are a relative path and four an absolute one."""
    path = unquote(urlsplit(url).path.removeprefix("/"))
    return path if not path or os.path.exists(path) or not os.path.exists("/" + path) else "/" + path


def module_file(function: str) -> Path | None:
    """The file in which MODULE:FUNCTION is looked for first; None for a text that names no module.

    >>> print(module_file("models.mine:train"), module_file("noisy_gd"))
    models/mine.py None
    """
    module, colon, _ = function.partition(":")
    parts = [part for part in module.split(".") if part]
    return Path(*parts).with_suffix(".py") if colon and parts else None


def would_be_read(path: Path) -> bool:
    """Whether a file would be read where its folder is the source."""
    return is_data_file(str(path))
