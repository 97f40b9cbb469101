"""What of a seeded result is a fact everywhere: it follows from what was declared, not from the last bit of a sum.

BLAS libraries choose their kernels by the processor, so two machines round a sum differently. Noise on a grid, an
argmax or a row's cell then turns out otherwise, and everything after it. What was charged, promised, assumed and
refused does not: no such difference may move it. So this is what `frozen.json` holds; whole results are compared on
one machine, before and after a move of the source (`python -m tests.golden.frozen --save`, `--against`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.golden.frozen_common import Plain

DECLARED = ("charges", "theorem", "assumptions", "guarantee", "arithmetic", "method")
"""Fields of a seeded fit that follow from what was declared."""
SEEDED = {"files": ("file/model", "file/synthetic", "text/release model", "text/release synthetic")}
"""By part: names under which results stand that fits of rows have decided. All others are kept whole."""


def facts(part: str, results: Mapping[str, Plain]) -> dict[str, Plain]:
    """The facts of a part, by name. A text has none but that it was made."""
    seeded = SEEDED.get(part, ())
    return {name: _fact(value) if name.startswith(seeded) else value for name, value in results.items()}


def _fact(value: Plain) -> Plain:
    match value:
        case dict():
            declared = {field: value[field] for field in DECLARED if field in value}
            return {"fields": sorted(value)} | declared
        case str() if value.startswith("refused: "):
            return value
        case bool():
            return value
        case list() if all(isinstance(entry, list) for entry in value):
            return value  # keys of charges, columns of a workload
    return "made"
