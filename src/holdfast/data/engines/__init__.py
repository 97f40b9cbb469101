"""Where rows can live. An engine is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.errors import ParameterError

if TYPE_CHECKING:
    from holdfast.data.table import Table


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A name, the sources it takes, and how it opens one (its driver is imported there)."""

    name: str
    takes: str
    accepts: Callable[[Any], bool]
    connect: Callable[..., Table]


def _package(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _in_memory(source: Any) -> bool:
    return isinstance(source, dict) or _package(source) in ("pandas", "polars", "pyarrow")


def _files(source: Any) -> bool:
    from os import PathLike

    if isinstance(source, PathLike):
        return True
    if isinstance(source, str):
        return source.startswith("duckdb://") or "://" not in source
    return _package(source) in ("duckdb", "_duckdb")


def _connect_memory(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data.engines.memory import connect

    return connect(source, *arguments, **options)


def _connect_duckdb(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data.engines.duckdb import connect

    return connect(source, *arguments, **options)


def _spark(source: Any) -> bool:
    return _package(source) == "pyspark"


def _connect_spark(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data.engines.spark import connect

    return connect(source, *arguments, **options)


def _postgres_url(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def _connect_postgres(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data.engines.postgres import connect

    return connect(source, *arguments, **options)


ENGINES = (
    Engine(
        name="memory",
        takes="data frames, Arrow tables, mappings of arrays",
        accepts=_in_memory,
        connect=_connect_memory,
    ),
    Engine(
        name="duckdb",
        takes="Parquet and CSV files, DuckDB files, connections and relations",
        accepts=_files,
        connect=_connect_duckdb,
    ),
    Engine(
        name="spark",
        takes="Spark DataFrames, classic and Connect",
        accepts=_spark,
        connect=_connect_spark,
    ),
    Engine(
        name="postgres",
        takes="postgresql:// URLs",
        accepts=_postgres_url,
        connect=_connect_postgres,
    ),
)


def engine_for(source: Any, name: str | None = None) -> Engine:
    """The engine of that name, or the first that takes the source."""
    named = [engine for engine in ENGINES if name in (None, engine.name)]
    if not named:
        raise ParameterError(
            f"engine must be one of {[engine.name for engine in ENGINES]}, got engine={name!r}"
        )
    for engine in named:
        if engine.accepts(source):
            return engine
    # A URL may hold a password, so only its kind is named.
    kind = f"a {source.partition('://')[0]} URL" if isinstance(source, str) else type(source).__name__
    known = "; ".join(f"{engine.name}: {engine.takes}" for engine in named)
    raise ParameterError(f"source must be one of ({known}), got {kind}")
