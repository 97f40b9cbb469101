"""The documentation site: static, built with warnings as errors, and without a single network request."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs"), str(ROOT)]

from docs.make_public_names import sentence  # noqa: E402

#: Lines of the reference that are left out.
BASES = re.compile(r"Bases: (object|Protocol|ABC|Generic\[.*\])(, (Protocol|ABC|Generic\[.*\]))*")

project = "holdfast"
author = "The holdfast authors"
project_copyright = "The holdfast authors. Apache License 2.0"


def _version() -> str:
    try:
        return metadata.version("holdfast")
    except metadata.PackageNotFoundError:
        import holdfast

        return holdfast.__version__


release = version = _version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "notebook_pages"]
exclude_patterns = ["_build", "_generated"]
nitpicky = False  # type hints name private aliases of NumPy
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_class_signature = "mixed"
add_module_names = False
maximum_signature_line_length = 88

html_theme = "furo"
html_title = "holdfast"
html_static_path = ["_static"]
html_css_files = ["figures.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_domain_indices = False  # four modules with a docstring on a page are no index
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ee", "color-brand-content": "#7cc4ee"},
}


def _for_help(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written for `help()`: single backticks mean code, emphasis is the only other markup."""
    if what == "data" and "\n".join(lines).strip() == inspect.cleandoc(type(obj).__doc__ or "").strip():
        lines[:] = _registry(name, obj)  # a constant has no docstring of its own, and gets that of its type
    shown = False  # inside a doctest, whose output is shown as it is
    for place, line in enumerate(lines):
        shown = line.lstrip().startswith(">>>") or (shown and bool(line.strip()))
        if not shown and not line.lstrip().startswith(".. "):
            lines[place] = _parted(re.split(r"(`+[^`]+`+)", line))
    lines[:] = _listed(lines)


def _registry(path: str, entries: Any) -> list[str]:
    """What a list of methods or classes is for, and what is in it."""
    room, _, name = path.rpartition(".")
    listed = ", ".join(f"`{each.__name__ if isinstance(each, type) else each.name}`" for each in entries)
    return [f"{sentence(room, name).replace(chr(92), '')}.", "", f"In order: {listed}."]


def _parted(pieces: list[str]) -> str:
    """Text and code by turns: code that touches a letter or a sign, as in e^`loss`, is set off by an empty mark."""
    line = ""
    for place, piece in enumerate(pieces):
        code, before = place % 2 == 1, pieces[place - 1][-1:]
        touches = (
            bool(re.match(r"[^\s(\[{<'\"/:-]", before)) if code else bool(re.match(r"\w", piece) and place)
        )
        line += ("\\ " if touches else "") + _restructured(piece)
    return line


def _restructured(piece: str) -> str:
    if piece.startswith("`"):
        return f"``{piece.strip('`')}``"
    parts = re.split(r"(\*\*[^*]+\*\*|(?<![\w*])\*[^*\s][^*]*\*(?![\w*]))", piece)
    escaped = (part if place % 2 else re.sub(r"([\\*|_])", r"\\\1", part) for place, part in enumerate(parts))
    return "".join(escaped)


#: Sections of numpydoc that are lists of names with what they mean.
LONGEST_TYPE = 60
LISTS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Other Parameters")


def _listed(lines: list[str]) -> list[str]:
    """Sections of numpydoc: a bold title, and where names are described, a list."""
    out: list[str] = []
    section = ""
    for place, line in enumerate(lines):
        if re.fullmatch(r"-{3,}", line) and out and re.fullmatch(r"[A-Z][A-Za-z ]+", out[-1]):
            section = out.pop()
            out += [f"**{section}**", ""]
        elif section not in LISTS or not line.strip():
            out.append(line)
        elif line.startswith(" "):
            out.append(f"  {line.strip()}")
        else:
            following = lines[place + 1] if place + 1 < len(lines) else ""
            out.append(_described(line, more=following.startswith(" ")))
    return out


def _described(line: str, *, more: bool) -> str:
    """A line of such a list: `name : type` with the meaning below, or `name : meaning`; a type where it is returned."""
    names, _, rest = (part.strip() for part in line.partition(" : "))
    code = ", ".join(f"``{name}``" for name in names.replace("\\", "").replace("``", "").split(", "))
    if more and len(rest) <= LONGEST_TYPE:
        return f"* {code} ({rest}):" if rest else f"* {code}:"
    return f"* {code}: {rest}" if rest else f"* {code}"


def _readable(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Short types; a default that is no Python, such as `<factory>`, makes Sphinx print the whole signature unread."""
    return signature and _short(re.sub(r"= ?<[^=]*?>+(?=[,)])", "= ...", signature)), returns and _short(
        returns
    )


def _short(types: str) -> str:
    """NumPy's own names for its arrays, which Python has replaced by what they stand for."""
    array = r"~?[\w.]*ndarray\[tuple\[~?[\w.]*Any, \.\.\.\], ~?[\w.]*dtype\[~?(?:\w+\.)*(\w+)\]\]"
    like = r"~?[\w.]*_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]"
    return re.sub(like, "ArrayLike", re.sub(array, r"NDArray[\1]", types))


def _bases_that_say_something(app: Any, doctree: Any, docname: str) -> None:
    """Not `object`, nor what is there for type checkers only."""
    for line in [each for each in doctree.findall(nodes.paragraph) if BASES.fullmatch(each.astext())]:
        line.parent.remove(line)


def _not_ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Methods that scikit-learn writes into every estimator, with markup of its own site."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def _names_stay_whole(app: Any, doctree: Any, docname: str) -> None:
    """A name in a table is not broken at the end of a line; a path may be, behind a slash, a bracket or a point."""
    for code in [code for table in doctree.findall(nodes.table) for code in table.findall(nodes.literal)]:
        text = code.astext()
        if len(text) <= 28 and not re.search(r"[/(]|[a-z]\.[A-Za-z_]", text):
            code["classes"].append("whole")
        elif app.builder.format == "html":
            code.clear()
            for part in re.split(r"(?<=/)|(?<=\()(?=[^)])|(?<=[a-z]\.)(?=[A-Za-z_])", text):
                code += [nodes.Text(part), nodes.raw("", "<wbr>", format="html")]


def _fragments(app: Any, docname: str, source: list[str]) -> None:
    """The changelog's page shows every fragment of changes/."""
    if docname == "changelog":
        fragments = [path for path in sorted((ROOT / "changes").glob("*.md")) if path.name != "README.md"]
        texts = "\n".join(path.read_text(encoding="utf-8") for path in fragments)
        source[0] = source[0].replace("<!-- fragments: written by docs/conf.py -->\n", texts)


def setup(app: Any) -> None:
    """Hook the filters in."""
    app.connect("source-read", _fragments)
    app.connect("doctree-resolved", _names_stay_whole)
    app.connect("doctree-resolved", _bases_that_say_something)
    app.connect("autodoc-process-docstring", _for_help)
    app.connect("autodoc-process-signature", _readable)
    app.connect("autodoc-skip-member", _not_ours)
