"""Write what the independent verifier draws pages by: template, script, style and references, as data.

    python docs/make_verifier.py

`verifier/holdfast_page.json` holds the texts of `src/holdfast/dossier/_templates`; a test compares them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.dossier._charts import DARK, STYLE

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "verifier" / "holdfast_page.json"


def content() -> dict[str, Any]:
    """The templates of the package, and the style of its charts."""
    folder = ROOT / "src" / "holdfast" / "dossier" / "_templates"
    names = {"template": "page.html.j2", "script": "page.js.j2", "style": "style.css.j2"}
    texts: dict[str, Any] = {
        name: (folder / file).read_text(encoding="utf-8") for name, file in names.items()
    }
    references = json.loads((folder / "references.json").read_text(encoding="utf-8"))
    return texts | {"colours": STYLE + DARK, "references": references}


def main() -> None:
    """Write the file."""
    text = json.dumps(content(), indent=1, ensure_ascii=False)
    SHIPPED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
