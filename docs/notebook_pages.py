"""A directive for pages: a notebook of `notebooks/` as it was executed, text, code, output and pictures.

    ```{notebook} ../../notebooks/scientist.ipynb
    ```

The first cell, title and purpose, belongs to the page and is left out here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList


def as_markdown(notebook: dict[str, Any]) -> str:
    """The cells after the first, as a page of Markdown; pictures are part of it."""
    return "\n\n".join(part for cell in notebook["cells"][1:] for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    parts = [f"```python\n{source}\n```"]
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            picture = data["image/png"].replace("\n", "")
            parts.append(f"![{cell['metadata']['alt']}](data:image/png;base64,{picture})")
        else:
            printed = "".join(output.get("text") or data["text/plain"]).rstrip()
            parts.append(f"```text\n{printed}\n```")
    return parts


class Notebook(Directive):
    """Where it stands, the notebook's cells."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parsed as if the cells had been written on the page."""
        environment = self.state.document.settings.env
        path = (Path(environment.doc2path(environment.docname)).parent / self.arguments[0]).resolve()
        environment.note_dependency(str(path))
        text = as_markdown(json.loads(path.read_text(encoding="utf-8")))
        here = nodes.section()
        here.document = self.state.document
        known = set(self.state.document.findall(nodes.section))
        self.state.nested_parse(StringList(text.splitlines(), source=str(path)), 0, here, match_titles=True)
        opening: list[nodes.Node] = here.children
        # Sections of the notebook are the page's own and stand there already; what opens it belongs before the first.
        first = next((one for one in self.state.document.findall(nodes.section) if one not in known), None)
        if first is None:
            return opening
        first.parent[first.parent.index(first) : first.parent.index(first)] = opening
        return []


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known."""
    app.add_directive("notebook", Notebook)
    return {"parallel_read_safe": True}
