"""Write everything that lists what holdfast has: `python docs/make_lists.py`, or `make lists`.

After a method, a mechanism, a command or a public name was added, this is the one command: tables and lists of the
docs, the picture of the rooms, and facts of seeded results that nothing was stored of. Facts that are stored stay as
they are. With `--pages` the docs alone, which takes seconds.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = ("make_tables", "make_cli", "make_papers", "make_public_names", "make_verifier", "rooms")
PAGES = "--pages"


def main(*arguments: str) -> None:
    """Run every script, each in a process of its own, as it would be by hand."""
    for script in SCRIPTS:
        subprocess.run([sys.executable, str(HERE / f"{script}.py")], check=True)
    if PAGES not in arguments:
        subprocess.run([sys.executable, "-m", "tests.golden.frozen", "--new"], check=True, cwd=HERE.parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
