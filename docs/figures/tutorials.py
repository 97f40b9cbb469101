"""The pictures of the tutorials that walk with files of their own: `python docs/figures/tutorials.py [PAGE ...]`.

Each page draws its picture itself, as its reader does; here the code of the page runs in a folder that is thrown away,
and the picture is kept. A page about PostgreSQL needs the server that it speaks of.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGES = ("meters", "claims", "loans")


def run_page(page: Path) -> list[str]:
    """Run the Python of a page in the current folder; what it prints other than it says."""
    names: dict[str, Any] = {"__name__": "__page__"}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    complaints: list[str] = []
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S):
        if ">>>" not in block:
            exec(compile(block, page.name, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, page.name, None, 0)
        runner.run(test, out=complaints.append, clear_globs=False)
        names.update(test.globs)
    return complaints


def draw(name: str) -> None:
    """The picture of one page."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            complaints = run_page(HERE.parent / "tutorials" / f"{name}.md")
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
