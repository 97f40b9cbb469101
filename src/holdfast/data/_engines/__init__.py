"""The engines, which read rows where they are, and `open_table`, which chooses the engine of a source.

An engine is a file or folder whose `connect` gives a `Table`, and an entry of ENGINES. You can also pass an `Engine`
of your own.
"""

from __future__ import annotations

import inspect
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast._caution import warn
from holdfast._extensions import Registry
from holdfast.data._engines.engine import Engine
from holdfast.data._schema import Identifier, Schema
from holdfast.data._schema.kinds import Column
from holdfast.data._table import Table
from holdfast.errors import AssumptionWarning, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency


def _package(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _in_memory(source: Any) -> bool:
    return isinstance(source, dict) or _package(source) in ("pandas", "polars", "pyarrow")


def _files(source: Any) -> bool:
    if isinstance(source, PathLike):
        return True
    if isinstance(source, str):
        return source.startswith("duckdb://") or "://" not in source
    return _package(source) in ("duckdb", "_duckdb")


def _connect_memory(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data._engines.memory import connect

    return connect(source, *arguments, **options)


def _connect_duckdb(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data._engines.duckdb.table import connect

    return connect(source, *arguments, **options)


def _spark(source: Any) -> bool:
    return _package(source) == "pyspark"


def _connect_spark(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data._engines.spark.table import connect

    return connect(source, *arguments, **options)


def _postgres_url(source: Any) -> bool:
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def _connect_postgres(source: Any, *arguments: Any, **options: Any) -> Table:
    from holdfast.data._engines.postgres.table import connect

    return connect(source, *arguments, **options)


ENGINES = (
    Engine(
        name="memory",
        takes="data frames, Arrow tables, mappings of arrays",
        accepts=_in_memory,
        connect=_connect_memory,
        reads_kinds=True,
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

REGISTRY = Registry(
    group="holdfast.engines",
    noun="engine",
    own=ENGINES,
    kind=Engine,
    calls=("accepts", "connect"),
    states=("takes",),
    promise="reads every row once",
)


def engine_for(source: Any, engine: str | Engine | None = None) -> Engine:
    """The engine of that name, or the first that takes the source; our own come before those of installed packages."""
    if isinstance(engine, Engine):
        candidates: tuple[Engine, ...] = (REGISTRY.admit(engine),)
    else:
        candidates = tuple(candidate for candidate in ENGINES if engine in (None, candidate.name))
    if not candidates:
        installed = REGISTRY.find(engine) if isinstance(engine, str) else None
        if installed is None:
            raise ParameterError(
                f"engine must be an Engine or one of {REGISTRY.names()}, got engine={engine!r}"
            )
        candidates = (installed,)
    for candidate in candidates:
        if candidate.accepts(source):
            return candidate
    if engine is None:
        candidates = REGISTRY.everything()
        installed = next((candidate for candidate in candidates if candidate.accepts(source)), None)
        if installed is not None:
            return installed
    # A URL may hold a password, so only its kind is named.
    kind = f"a {source.partition('://')[0]} URL" if isinstance(source, str) else type(source).__name__
    known = "; ".join(f"{candidate.name}: {candidate.takes}" for candidate in candidates)
    raise ParameterError(f"source must be one of ({known}), got {kind}")


@checked
def open_table(
    source: Any,
    schema: Schema,
    *,
    table: str | None = None,
    adjacency: Adjacency | str | None = None,
    n_public: int | None = None,
    entropy: Source | None = None,
    engine: str | Engine | None = None,
    local_copy: bool | str | PathLike[str] | None = None,
    **options: Any,
) -> Table:
    """Open data, wherever they are, as a table with a declared schema.

    Parameters
    ----------
    source : data frame, pyarrow.Table, mapping, path, URL, connection or Spark DataFrame
        A pandas or polars data frame, a pyarrow table, a mapping from names to arrays, a path or pattern of
        Parquet or CSV files, a folder of them, a URL such as `duckdb:///clinic.db?table=visits` or
        `postgresql://user@host/db?table=visits`, a DuckDB connection (with `table=`) or relation, or a Spark
        DataFrame.
    schema : Schema
        The declared columns.
    table : str, optional
        The table, where the source holds several.
    adjacency : Adjacency or str, optional
        The neighbour relation, if the schema does not declare it; a conflict is an error.
    n_public : int, optional
        The public number of units, if the schema does not declare it; a conflict is an error.
    entropy : Source, optional
        The source of randomness that chooses which rows of a user are kept; by default those of the operating system.
    engine : str or Engine, optional
        The name of an engine, or one of your own; by default the first that takes the source.
    local_copy : bool, str or path, optional
        Whether a fit of many passes may keep the encoded rows in a temporary file until it ends. By default it may
        where the rows come from files and the disk has room; False is never, True or a folder is always.
    **options
        Options of the engine (DuckDB: `memory_limit`, `threads`; PostgreSQL: `way`, `keep`,
        `trusted_owner`, one or several; Spark: `partitions`).

    Returns
    -------
    Table
        The rows behind the schema; nothing is read yet but names and types.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema, open_table
    >>> schema = Schema([Categorical("sex", ["F", "M"])])
    >>> open_table({"sex": ["F", "M", "M", "x"]}, schema).counts([["sex"]])[0].tolist()
    [1, 3]
    """
    schema.require_confirmed()
    resolved = resolve_adjacency(adjacency, schema.adjacency)
    folder = None if local_copy is None or isinstance(local_copy, bool) else Path(local_copy)
    require(
        folder is None or folder.is_dir(),
        "local_copy",
        str(folder),
        "None, True, False or a folder that exists",
    )
    if n_public is not None and schema.n_public is not None and n_public != schema.n_public:
        raise ParameterError(
            f"n_public={n_public} contradicts the schema, which declares {schema.n_public}; drop the argument"
        )
    n_public = schema.n_public if n_public is None else n_public
    require(n_public is None or n_public >= 1, "n_public", n_public, ">= 1")
    if schema.assumptions:
        warn(
            f"the schema is a draft: {'; '.join(map(str, schema.assumptions))}. Replace what is marked and remove "
            "taken_from_data, or every promise made with it carries that as an assumption",
            AssumptionWarning,
        )
    chosen = engine_for(source, engine)
    unreadable = [] if chosen.reads_kinds else [column for column in schema.columns if _has_reader(column)]
    if unreadable:
        raise ParameterError(
            f"column {unreadable[0].name!r} is of kind {unreadable[0].kind!r}, which reads values by Python code, and "
            f"the engine {chosen.name!r} cannot run it; load the rows, as in "
            "open_table(pyarrow.parquet.read_table(...))"
        )
    known = inspect.signature(chosen.connect).parameters
    unknown = [name for name in options if name not in known]
    if unknown and not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        raise ParameterError(f"options must be those of the engine {chosen.name!r}, got {', '.join(unknown)}")
    opened = chosen.connect(
        source,
        schema,
        table=table,
        adjacency=resolved,
        n_public=n_public,
        entropy=Source() if entropy is None else entropy,
        **options,
    )
    if not any(chosen is own for own in ENGINES):
        require(
            isinstance(opened, Table),
            f"what the engine {chosen.name!r} gives",
            type(opened).__name__,
            "a Table",
        )
        opened.engine_author = REGISTRY.author(chosen)
    if schema.open_levels:
        arguments = {
            "table": table,
            "engine": engine,
            "local_copy": local_copy,
            "entropy": entropy,
            **options,
        }
        arguments |= {"adjacency": resolved, "n_public": n_public}
        opened.reopen = partial(_reopen, source, arguments)
    if local_copy is not None:
        opened.local_copy, opened.copy_folder = local_copy is not False, folder
    return opened


def rows_of_source(source: str | PathLike[str], **reading: Any) -> Any:
    """All rows of a file, or of the table of a database URL, as an Arrow table, which only their owner may see.

    `reading` holds options of `read_table`. Errors do not repeat the URL, which may hold a password.
    """
    from holdfast.data._engines.files import read_table

    kind, is_url, _ = str(source).partition("://")
    if not is_url:
        return read_table(Path(source), **reading)
    if kind == "duckdb":
        from holdfast.data._engines.duckdb.table import read_all

        return read_all(source)
    if _postgres_url(source):
        from holdfast.data._engines.postgres import source as postgres

        return postgres.read_relation(str(source))[0]
    name = reading.get("name", "file")
    raise ParameterError(f"{name} must be a file, or a duckdb:// or postgresql:// URL, got a {kind} URL")


def _reopen(source: Any, options: dict[str, Any], schema: Schema) -> Table:
    """Open the same rows with another schema."""
    return open_table(source, schema, **options)


def _has_reader(column: Column) -> bool:
    """Whether the kind of the column reads values by Python code of its own."""
    return not isinstance(column, Identifier) and column.read is not None
