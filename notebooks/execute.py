"""Run the notebooks and keep what they print and draw: `python -m notebooks.execute [NAME ...]`.

A notebook is JSON: its code cells are run one after another in one namespace, as Jupyter runs them, and their outputs
are stored in the file. No kernel is started, and no package beyond matplotlib is needed; whoever opens a notebook in
Jupyter sees the same.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))
DPI = 80


def read(path: Path) -> dict[str, Any]:
    """The notebook as it is stored."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def executed(notebook: dict[str, Any], *, name: str = "notebook") -> dict[str, Any]:
    """A copy with the outputs of a new run from top to bottom; the first exception ends it."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    pyplot.close("all")  # what others left open in this process is not the notebook's
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = list(_outputs("".join(cell["source"]), names, f"<{name}, cell {count}>", count))
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict[str, Any], where: str, count: int) -> Iterator[dict[str, Any]]:
    """What one cell prints, what its last line is, and what it draws."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)
        shown = (
            eval(compile(ast.Expression(last.value), where, "eval"), names)
            if isinstance(last, ast.Expr)
            else None
        )
    if printed.getvalue():
        yield {
            "name": "stdout",
            "output_type": "stream",
            "text": printed.getvalue().splitlines(keepends=True),
        }
    if hasattr(shown, "savefig"):
        yield _display(shown)
    elif shown is not None:
        yield {
            "data": {"text/plain": repr(shown).splitlines(keepends=True)},
            "execution_count": count,
            "metadata": {},
            "output_type": "execute_result",
        }
    # What is still open is shown and closed, as by Jupyter's inline backend.
    import matplotlib.pyplot as plt

    for figure in map(plt.figure, plt.get_fignums()):
        if figure is not shown:
            yield _display(figure)
    plt.close("all")


def _display(figure: Any) -> dict[str, Any]:
    """A figure as a PNG."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None})
    data = {"image/png": base64.b64encode(drawn.getvalue()).decode("ascii")}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def write(path: Path, notebook: dict[str, Any]) -> None:
    """The notebook as Jupyter writes it."""
    path.write_text(
        json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
    )


def main() -> None:
    """Run those that are named, or all."""
    os.chdir(HERE)
    for path in [HERE / f"{name}.ipynb" for name in sys.argv[1:]] or NOTEBOOKS:
        write(path, executed(read(path), name=path.stem))


if __name__ == "__main__":
    main()
