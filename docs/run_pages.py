"""Run the code of pages as a reader would: `python docs/run_pages.py [--extras EXTRA,...] PAGE ...`.

Python blocks of a page share their names, and `sh` blocks the folder, which is thrown away. A page that needs extras
says so in a line "This page needs the extra `NAME`", a block in its first line, "# needs the extra NAME"; what needs an
extra that is not named by --extras is left out. Exit code 1 where something fails or prints other than the page says.
Needs nothing but Python and what the pages use, so it runs in an environment that has holdfast alone.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PAGE = re.compile(r"^This page needs the extras? (`\w+`(?:(?:, | and )`\w+`)*)", flags=re.M)
_BLOCK = re.compile(r"\A# needs the extras? (\w+(?:(?:, | and )\w+)*)")


@dataclass(frozen=True)
class Block:
    """A piece of code, and the extras that it says it needs."""

    language: str
    code: str
    needs: frozenset[str]


def extras_in(words: str) -> frozenset[str]:
    """The names in "plot", "plot and pandas" or "`sign`, `plot` and `pandas`".

    >>> sorted(extras_in("`sign`, `plot` and `pandas`"))
    ['pandas', 'plot', 'sign']
    """
    return frozenset(re.split(r", | and ", words.replace("`", "")))


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks that can be run, in their order."""
    text = page.read_text(encoding="utf-8")
    said = _PAGE.search(text)
    everywhere = extras_in(said[1]) if said else frozenset[str]()
    for language, code in re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.M | re.S):
        own = _BLOCK.match(code)
        yield Block(language, code, everywhere | (extras_in(own[1]) if own else frozenset()))


def run_page(page: Path, extras: Iterable[str] | None = None) -> list[str]:
    """Run a page in the current folder; what fails in a shell, and what is printed other than the page says.

    Parameters
    ----------
    page
        A Markdown file.
    extras
        The extras that are installed: blocks that need others are left out. None runs every block.
    """
    names: dict[str, Any] = {"__name__": "__page__"}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    complaints: list[str] = []
    for block in blocks_of(page):
        if extras is not None and not block.needs <= frozenset(extras):
            continue
        if block.language == "sh":
            complaints += _shell(block.code)
        elif ">>>" not in block.code:
            exec(compile(block.code, page.name, "exec"), names)
        else:
            test = doctest.DocTestParser().get_doctest(block.code, names, page.name, None, 0)
            runner.run(test, out=complaints.append, clear_globs=False)
            names.update(test.globs)
    return complaints


def _shell(code: str) -> list[str]:
    """The lines of a block in one shell, which ends at the first that fails."""
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join([beside, os.environ.get("PATH", "")])
    done = subprocess.run(
        ["sh", "-e", "-c", code],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return (
        [] if done.returncode == 0 else [f"exit code {done.returncode} of\n{code}{done.stdout}{done.stderr}"]
    )


def main() -> None:
    """Run the pages that are named."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    asked.add_argument("--extras", default="", help="Those that are installed, with commas between.")
    given = asked.parse_args()
    extras = [name for name in given.extras.split(",") if name]
    os.environ.setdefault("MPLBACKEND", "agg")
    failed = False
    home = os.getcwd()
    for page in [page.resolve() for page in given.pages]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                complaints = run_page(page, extras)
            except Exception as error:
                import traceback

                complaints = ["".join(traceback.format_exception(error))]
            finally:
                os.chdir(home)
        print(f"{page.name}: {'runs' if not complaints else 'FAILS'}", flush=True)
        print("".join(complaints), end="")
        failed |= bool(complaints)
    sys.exit(failed)


if __name__ == "__main__":
    main()
