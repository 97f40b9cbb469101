"""`holdfast postgres`: the extension that trains inside a PostgreSQL database."""

from __future__ import annotations

import click

from holdfast._cli.paths import CommandGroup

URL_ARGUMENT = click.argument("url")


@click.group(cls=CommandGroup)
def postgres() -> None:
    """Put the extension for training inside PostgreSQL into a database, or take it out.

    With it, open_table(URL, schema, way="extension") runs bolt-on SGD where the rows lie. Without it, tables are
    counted, summed and pulled all the same. URL is postgresql://user@host/database; a password belongs in PGPASSWORD.

    \b
    Examples:
      holdfast postgres install postgresql://postgres@localhost/clinic
      holdfast postgres status postgresql://reader@localhost/clinic
      holdfast postgres uninstall postgresql://postgres@localhost/clinic
    """


@postgres.command()
@URL_ARGUMENT
@click.option("--folder", help="Where the library goes; default: holdfast in the server's data folder.")
@click.option("--compiler", help="Default: $CC, gcc, clang or cc.")
@click.option("--pg-config", help="Whose headers to use; default: those that the server names.")
@click.option("--role", help="Who may use the extension; default: everybody.")
def install(
    url: str, folder: str | None, compiler: str | None, pg_config: str | None, role: str | None
) -> None:
    """Build the extension and put it into the database of URL.

    Run it on the server's machine, as a user who may write to its data folder, with the URL of a superuser. It needs
    a C compiler and the server's headers, and takes seconds.
    """
    from holdfast.data._engines.postgres.install import install as install_extension

    click.echo(
        install_extension(url, folder=folder, compiler=compiler, pg_config=pg_config, role=role).summary()
    )


@postgres.command()
@URL_ARGUMENT
def uninstall(url: str) -> None:
    """Remove the extension from the database of URL, and its library from the disk."""
    from holdfast.data._engines.postgres.install import uninstall as uninstall_extension

    click.echo(uninstall_extension(url).summary())


@postgres.command()
@URL_ARGUMENT
def status(url: str) -> None:
    """Say whether the database of URL has the extension; exit code 1 if it cannot be used."""
    from holdfast.data._engines.postgres.install import status as extension_status

    report = extension_status(url)
    click.echo(report.summary())
    if not report.is_current:
        raise SystemExit(1)
