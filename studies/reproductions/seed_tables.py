"""A page's own tables, read back: sentences are made from the numbers that stand beside them, and can be made again.

With `--stored` a script measures nothing: tables and stamp are those of the page, and the words are made anew. A test
makes them anew, too, so that no sentence on a page says something that its tables do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from studies.reproductions.seed_page import RESULTS

Means = dict[str, dict[str, float]]
"""By row and column, the first number of each cell."""
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def means(lines: Sequence[str]) -> Means:
    """The first number of every cell that has one.

    >>> means(["| n = | 250 | 500 |", "|---|---:|---:|", "| MWEM | 0.221 ± 0.031 | |"])
    {'MWEM': {'250': 0.221}}
    """
    header, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    found: Means = {}
    for name, *cells in rows:
        pairs = ((column, NUMBER.search(cell)) for column, cell in zip(header[1:], cells, strict=True))
        found[name] = {column: float(hit[0].replace(",", "")) for column, hit in pairs if hit}
    return found


def blocks(name: str) -> dict[str, list[str]]:
    """The first table or list under every heading of a stored page, line by line."""
    found: dict[str, list[str]] = {}
    title, open_block = "", False
    for line in (RESULTS / f"{name}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            title, open_block = line.lstrip("# "), title not in found
        if line.startswith(("|", "- ")):
            if open_block or title not in found:
                found.setdefault(title, []).append(line)
                open_block = True
        elif title in found:
            open_block = False
    return found


def stored_stamp(name: str) -> str:
    """The line that says how the page was made."""
    text = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith("Made by "))


def listed(items: Sequence[str], none: str = "none") -> str:
    """In words."""
    return ", ".join(items) if items else none


def span(values: Sequence[float], digits: int) -> str:
    """From the least to the largest; one number where they are the same."""
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
