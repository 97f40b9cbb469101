"""Paths of commands: what is read and what is written is declared with the option, and compared before a command runs.

Every command is a `Command`. It gathers its own paths by their types, so none can forget to ask (`release._outputs`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from holdfast._regular_file import other_kind

if TYPE_CHECKING:
    from holdfast._cli.result_files import Writer
    from holdfast.release._outputs import FileRead, FileWritten, Outputs

WhenThere = Literal["force", "refused"]


class ReadFile(click.Path):
    """A file that is read, and must be there unless the command says so itself (`exists=False`)."""

    def __init__(self, *, exists: bool = True) -> None:
        super().__init__(exists=exists, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; a pipe or a device would be waited for, or be read without end."""
        path = super().convert(value, param, ctx)
        kind = other_kind(os.fsdecode(path))
        if kind:
            self.fail(
                f"{click.format_filename(path)!r} must be a regular file, and it is {kind}.", param, ctx
            )
        return path


class SourceText(click.types.StringParamType):
    """Rows: a file, a folder, a pattern of files or the URL of a database."""


class FunctionText(click.types.StringParamType):
    """A function of a Python file, MODULE:FUNCTION."""


class WrittenFile(click.Path):
    """A file that is written. One that is there is written over with --force, or never (`when_there`).

    A `writer` makes it from a release: a file that a killed run of the command wrote is then known again.
    """

    def __init__(self, *, when_there: WhenThere = "force", writer: Writer | None = None) -> None:
        super().__init__(dir_okay=False, path_type=Path)
        self.when_there = when_there
        self.writer = writer


class PictureFile(WrittenFile):
    """A picture that is written. It is SVG, so its name says so, or nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A path that ends in .svg or has no ending."""
        path = Path(str(super().convert(value, param, ctx)))
        if path.suffix not in ("", ".svg"):
            self.fail(
                f"pictures are written as SVG, got {click.format_filename(path)!r}; end it in .svg",
                param,
                ctx,
            )
        return path


class WrittenFolder(click.Path):
    """A folder that files of fixed names are written to."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)


READ_FILE = ReadFile()
LEDGER_FILE = ReadFile(exists=False)
"""A ledger that must be there: it says so itself, in words of its own."""
SOURCE_TEXT = SourceText()
FUNCTION_TEXT = FunctionText()
WRITTEN_FILE = WrittenFile()
NEW_FILE = WrittenFile(when_there="refused")
PICTURE_FILE = PictureFile()
WRITTEN_FOLDER = WrittenFolder()


_FORCE_KEY = "holdfast.force"
FORCE_OPTION = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, parameter, value: ctx.meta.update({_FORCE_KEY: value}),
    help="Write over files that are there.",
)
"""For every command that writes a file: without it nothing that is there is written over."""


class Command(click.Command):
    """A command that writes over nothing that it reads."""

    def invoke(self, ctx: click.Context) -> Any:
        """Look at every path that was given, then run."""
        from holdfast.data._own_files import forget

        forget()
        if not ctx.params.get("dry", False):
            outputs_of(self, ctx.params, force=bool(ctx.meta.get(_FORCE_KEY))).require()
        return super().invoke(ctx)


class CommandGroup(click.Group):
    """A group of such commands."""

    command_class = Command


def outputs_of(command: click.Command, values: dict[str, Any], *, force: bool = False) -> Outputs:
    """What a command would read and write, told these values."""
    from holdfast.release._outputs import Outputs

    reads: list[FileRead] = []
    writes: list[FileWritten] = []
    # A result is kept beside the ledger that paid for it, or beside the first of its files.
    beside = [value for value in values.values() if isinstance(value, Path)]
    for parameter in command.params:
        name = str(parameter.name)
        for value in _values_of(values.get(name)):
            if isinstance(parameter.type, ReadFile | SourceText | FunctionText):
                reads += _files_read(parameter, value)
            elif isinstance(parameter.type, WrittenFile):
                writes += _files_written(name, value, parameter.type, force=force, beside=beside)
    return Outputs(reads=tuple(reads), writes=tuple(writes))


def _values_of(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        yield from value
    elif value is not None:
        yield value


def _files_read(parameter: click.Parameter, value: str | Path) -> list[FileRead]:
    from holdfast.data._engines.places import local_place, module_file, would_be_read
    from holdfast.release._outputs import FileRead

    place: Path | None = Path(value)
    if isinstance(parameter.type, SourceText):
        place = local_place(value)
    elif isinstance(parameter.type, FunctionText):
        place = module_file(str(value))
    name = f"the file of {parameter.opts[0]}" if isinstance(parameter, click.Option) else f"{parameter.name}"
    return [] if place is None else [FileRead(name=name, path=place, admits=would_be_read)]


def _files_written(
    name: str, path: Path, kind: WrittenFile, *, force: bool, beside: list[Path]
) -> list[FileWritten]:
    from holdfast._cli.result_files import holds_kept_result
    from holdfast.data._file_set import was_interrupted
    from holdfast.data._whole_file import remove_abandoned
    from holdfast.release._outputs import FileWritten

    remove_abandoned(path.parent)  # also where nothing is written now: it may be a private key
    if kind.when_there == "refused" and path.exists():
        return []  # it is refused, with its own words
    writer = kind.writer
    return [
        FileWritten(
            name=name,
            path=path,
            replaces=force,
            is_own=lambda: (
                was_interrupted(path)
                or (writer is not None and holds_kept_result(path, writer, beside=beside))
            ),
        )
    ]
