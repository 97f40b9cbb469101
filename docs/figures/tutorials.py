"""The pictures of the tutorials that walk with files of their own: `python docs/figures/tutorials.py [PAGE ...]`.

Each page draws its picture itself, as its reader does; here the code of the page runs in a folder that is thrown away,
and the picture is kept. A page about PostgreSQL needs the server that it speaks of.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from runpy import run_path

HERE = Path(__file__).resolve().parent
PAGES = ("meters", "claims", "loans")


def draw(name: str) -> None:
    """The picture of one page."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            complaints = run_path(str(HERE.parent / "run_pages.py"))["run_page"](
                HERE.parent / "tutorials" / f"{name}.md"
            )
            if complaints:
                raise SystemExit("".join(complaints))
            shutil.copy(f"{name}.png", HERE / f"tutorial_{name}.png")
        finally:
            os.chdir(here)


def main() -> None:
    """Draw all, or those that are named."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("pages", nargs="*", choices=[*PAGES, []], metavar="PAGE")
    for name in asked.parse_args().pages or PAGES:
        draw(name)


if __name__ == "__main__":
    main()
