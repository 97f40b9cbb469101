"""Putting the extension into PostgreSQL and taking it out: a real server, a real compiler."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.data._engines.postgres import extension as postgres_build
from holdfast.data._engines.postgres import extension as postgres_extension
from holdfast.data._engines.postgres import install as postgres_install
from holdfast.data._engines.postgres.extension import SCHEMA_NAME
from holdfast.data._engines.postgres.install import install, status, uninstall
from holdfast.errors import DataError, MissingExtra
from tests.conftest import missing
from tests.servers.postgres import PACKAGE, READER_PASSWORD, Server
from tests.servers.postgres_extension import able_to_build, folder, schemas


class TestInstalling:
    @pytest.fixture
    def bare(self, postgres_server: Server) -> Iterator[Server]:
        """A server without the extension, before and after."""
        server = able_to_build(postgres_server)
        again = bool(schemas(server))
        if again:
            uninstall(server.url(user="postgres"))
        yield server
        server.run(f"DROP SCHEMA IF EXISTS {SCHEMA_NAME} CASCADE")
        shutil.rmtree(folder(server), ignore_errors=True)
        if again:
            install(server.url(user="postgres"))

    @pytest.mark.slow
    def test_uninstall_leaves_nothing(self, bare: Server) -> None:
        def functions() -> int:
            with bare.admin() as admin:
                return int(admin.execute("SELECT count(*) FROM pg_proc").fetchone()[0])

        url, before = bare.url(user="postgres"), functions()
        runner = CliRunner()
        assert runner.invoke(app, ["postgres", "status", bare.url()]).exit_code == 1
        done = runner.invoke(app, ["postgres", "install", url])
        assert (done.exit_code, functions()) == (0, before + 6), done.output
        assert len(list(folder(bare).iterdir())) == 1
        shown = runner.invoke(app, ["postgres", "status", bare.url()])
        assert shown.exit_code == 0
        assert "installed" in shown.output
        assert runner.invoke(app, ["postgres", "install", url]).exit_code == 0  # again, over itself
        assert len(list(folder(bare).iterdir())) == 1
        done = runner.invoke(app, ["postgres", "uninstall", url])
        assert (done.exit_code, functions()) == (0, before), done.output
        assert not folder(bare).exists()
        assert not schemas(bare)
        again = runner.invoke(app, ["postgres", "uninstall", url])
        assert again.exit_code == 2
        assert "no extension" in again.output
        assert bare.admin_password not in done.output + again.output

    def test_who_is_no_superuser_is_told_so(self, bare: Server) -> None:
        for verb in ("install", "uninstall"):
            done = CliRunner().invoke(app, ["postgres", verb, bare.url()])
            assert done.exit_code == 2
            assert "only a superuser" in done.output
            assert "way='sql'" in done.output
            assert READER_PASSWORD not in done.output

    def test_a_wrong_password_is_not_repeated(self, bare: Server) -> None:
        done = CliRunner().invoke(app, ["postgres", "status", bare.url(password="hunter2")])
        assert done.exit_code == 2
        assert "password" in done.output
        assert "hunter2" not in done.output

    def test_tables_say_what_is_missing(self, bare: Server) -> None:
        bare.run("CREATE TABLE empty (dose real, ill text)", "GRANT SELECT ON empty TO reader")
        schema = Schema([Numeric("dose", 0, 9), Categorical("ill", ["no", "yes"])])
        try:
            with pytest.raises(DataError, match="holdfast postgres install"):
                open_table(bare.url("empty", way="extension"), schema)
            install(bare.url(user="postgres"), role="postgres")
            with pytest.raises(DataError, match="GRANT USAGE"):
                open_table(bare.url("empty", way="extension"), schema)
            assert not status(bare.url()).usable
        finally:
            bare.run("DROP TABLE empty")

    def test_missing_compiler_and_headers(self, bare: Server, tmp_path: Path) -> None:
        url = bare.url(user="postgres")
        with pytest.raises(MissingExtra, match="compiler"):
            install(url, compiler="no-such-compiler")
        with pytest.raises(DataError, match="must be a program"):
            install(url, pg_config="no-such-pg_config")
        old = tmp_path / "pg_config"
        old.write_text("#!/bin/sh\necho PostgreSQL 9.6\n")
        old.chmod(0o755)
        with pytest.raises(DataError, match="as the server is"):
            install(url, pg_config=str(old))
        with pytest.raises(MissingExtra, match="postgresql-server-dev-18"):
            postgres_build.find_headers({"INCLUDEDIR-SERVER": str(tmp_path)}, major=18, pg_config=None)
        false = shutil.which("false")
        with pytest.raises(DataError, match="refused the extension"):
            install(url, compiler=false)
        assert not schemas(bare)
        assert not folder(bare).exists()

    def test_a_folder_must_be_safe_and_the_server_must_see_it(self, bare: Server, tmp_path: Path) -> None:
        url = bare.url(user="postgres")
        open_folder = tmp_path / "open"
        open_folder.mkdir()
        open_folder.chmod(0o777)
        with pytest.raises(DataError, match="others may write"):
            install(url, folder=open_folder)
        with pytest.raises(DataError, match="server's machine"):
            install(url, folder=tmp_path / "no" / "such")
        if os.geteuid() == 0:  # the server runs as another user, who may not enter
            closed = tmp_path / "closed"
            closed.mkdir(mode=0o700)
            with pytest.raises(DataError, match="another machine"):
                install(url, folder=closed)
            assert list(closed.iterdir()) == []
        assert not schemas(bare)

    def test_headers_of_another_version_compile_and_do_not_load(
        self, bare: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = find_spec(PACKAGE)
        assert found is not None
        other = Path(str(found.origin)).parent / "pginstall" / "include" / "postgresql" / "server"
        if not (other / "postgres.h").is_file():
            missing("headers", "there is no second PostgreSQL to take headers of")
        monkeypatch.setattr(postgres_install, "find_headers", lambda *given, **named: other)
        with pytest.raises(DataError, match="does not fit the server"):
            install(bare.url(user="postgres"))
        assert not schemas(bare)
        assert not folder(bare).exists()

    def test_all_or_nothing(self, bare: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        made = postgres_extension.create_statements
        monkeypatch.setattr(
            postgres_install, "create_statements", lambda library: [*made(library), "SELECT 1 / 0"]
        )
        with pytest.raises(DataError, match="22012"):
            install(bare.url(user="postgres"))
        assert not schemas(bare)
        assert not folder(bare).exists()

    def test_what_is_not_ours_stays(self, bare: Server) -> None:
        url = bare.url(user="postgres")
        bare.run(f"CREATE SCHEMA {SCHEMA_NAME}")
        for call in (install, uninstall):
            with pytest.raises(DataError, match="not of this extension"):
                call(url)
        bare.run(f"DROP SCHEMA {SCHEMA_NAME}")
        install(url)
        bare.run(f"CREATE TABLE {SCHEMA_NAME}.mine (x int)")
        with pytest.raises(DataError, match="remove that first"):
            uninstall(url)
        assert status(url).is_current
        assert len(list(folder(bare).iterdir())) == 1

    def test_another_version_is_replaced(
        self, bare: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        url = bare.url(user="postgres")
        kernel = tmp_path / "kernel"
        for name in postgres_build.SOURCES:
            (kernel / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(postgres_build.KERNEL_FOLDER / name, kernel / name)
        with (kernel / "sgd.c").open("a") as source:
            source.write("/* older */\n")
        with monkeypatch.context() as patched:
            patched.setattr(postgres_build, "KERNEL_FOLDER", kernel)
            postgres_build.version.cache_clear()
            old = install(url)
            assert old.is_current
        postgres_build.version.cache_clear()
        assert not status(url).is_current
        assert "another version" in status(url).summary()
        new = install(url)
        assert new.is_current
        assert new.library != old.library
        assert [str(path) for path in folder(bare).iterdir()] == [new.library]
