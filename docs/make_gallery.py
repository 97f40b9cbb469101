"""Write the grid of pictures on the page Gallery: `python docs/make_gallery.py`.

Every figure of the docs, the page that explains it and the script that draws it are found, not listed: a new figure
appears by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = HERE / "_generated" / "gallery.md"
FIGURES = HERE / "figures"
_TITLE = re.compile(r"^# (.+)$", flags=re.M)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure, where it is explained and what draws it; paths are those inside the repository."""

    name: str
    title: str
    page: str
    script: str
    section: str = ""


def pages() -> list[tuple[str, str]]:
    """Path and text of every page that explains pictures, results of reproductions and the home page last."""
    own = [p for p in sorted(HERE.glob("*.md")) if p.name not in ("index.md", "gallery.md")]
    results = sorted((ROOT / "studies" / "reproductions" / "results").glob("*.md"))
    home = HERE / "index.md"
    return [(str(p.relative_to(ROOT)), p.read_text(encoding="utf-8")) for p in [*own, *results, home]]


def script_of(name: str) -> str:
    """The file that draws a figure."""
    table = (FIGURES / "make.py").read_text(encoding="utf-8").split("FIGURES:")[1]
    if entry := re.search(rf'^    "{name}": (?:(example|of_page)\("(\w+)".*|\w+,)$', table, flags=re.M):
        folder = {"example": "examples", "of_page": "docs/figures"}.get(entry[1] or "")
        return f"{folder}/{entry[2]}.py" if folder else "docs/figures/make.py"
    for path in [HERE / "rooms.py", HERE / "walks.py"]:
        if f"{name}.svg" in path.read_text(encoding="utf-8"):
            return str(path.relative_to(ROOT))
    if name.startswith("attributes_"):
        return "docs/make_attributes.py"
    for place, text in pages():
        script = ROOT / "studies" / "reproductions" / f"{Path(place).stem}.py"
        if place.startswith("studies/reproductions/") and f"figures/{name}.svg" in text and script.is_file():
            return str(script.relative_to(ROOT))
    raise LookupError(f"no script draws docs/figures/{name}.svg")


def examples() -> list[Picture]:
    """Pictures of the runnable files, each in a section of the gallery itself."""
    text = (HERE / "gallery.md").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.split("\n## ")[1:]]
    return [
        Picture(name=name, title=title, page="docs/gallery.md", script=script_of(name), section=slug(title))
        for title, _, body in parts
        for name in re.findall(r"figures/(\w+)\.svg", body)
    ]


def slug(title: str) -> str:
    """The anchor that the site gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def pictures() -> list[Picture]:
    """Runnable files first, then all that some page explains, in the order of the pages."""
    found = {picture.name: picture for picture in examples()}
    for place, text in pages():
        # Results of reproductions are shown on one page of the site.
        page = place if place.startswith("docs/") else "docs/reproductions.md"
        title = _TITLE.search(text)
        for name in re.findall(r"figures/(\w+)\.svg", text):
            if name not in found and (FIGURES / f"{name}.svg").is_file():
                found[name] = Picture(
                    name=name,
                    title=title[1] if title else Path(place).stem,
                    page=page,
                    script=script_of(name),
                )
    return list(found.values())


def card(picture: Picture) -> str:
    """One picture that leads to its page, and its script to take away."""
    page, at = Path(picture.page).name, picture.section and f"#{picture.section}"
    words = f"{picture.name.replace('_', ' ')}, from the page {picture.title}"
    return (
        ":::{container} picture\n"
        f"```{{image}} figures/{picture.name}.svg\n:alt: {words}\n"
        f":target: {page.removesuffix('.md')}.html{at}\n:loading: lazy\n```\n\n"
        f"[{picture.title}]({at or page}) · {{download}}`script <../{picture.script}>`\n:::\n"
    )


def page() -> str:
    """The grid, as it stands on the page."""
    return "::::{container} pictures\n\n" + "\n".join(map(card, pictures())) + "\n::::\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
