"""The site as a reader meets it: every page says what it is for, the sidebar is short, pictures lead to scripts."""

from __future__ import annotations

import re
from pathlib import Path
from runpy import run_path

import pytest

from tests.docs.test_docs import DOCS, PAGES, _name, _toctrees
from tests.paths import ROOT

ENTRIES = 12
"""At most so many in the sidebar, before one is unfolded."""
READERS = ("scientist", "statistician", "officer", "researcher")


def text_of(page: Path) -> str:
    """The page, or the file that it consists of."""
    text = page.read_text(encoding="utf-8")
    whole = re.fullmatch(r"```\{include\} (\S+)\n(?::[\w-]+: \S+\n)*```\n?", text)
    return text_of((page.parent / whole[1]).resolve()) if whole else text


def opening(text: str) -> str:
    """The first thing after the title, or nothing where that is no paragraph."""
    without = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    without = re.sub(r"\A\s*(?:\([\w-]+\)=\s*)?# [^\n]+\n", "", without)
    first = without.strip().split("\n\n")[0]
    return "" if re.match(r"#|```|:::|\||!\[|[-*] |\d+\. |>>>", first) else " ".join(first.split())


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_page_opens_with_what_it_is_for(page: Path) -> None:
    words = opening(text_of(page)).split()
    assert len(words) >= 9, f"{_name(page)} begins with no paragraph that says what it is for"


@pytest.mark.parametrize(
    "text",
    [
        "# A page\n\n## At once a section\n\nWords that come too late for whoever opens this page.",
        "# A page\n\n```python\nimport holdfast\n```\n\nWords that come too late for whoever opens this page.",
        "# A page\n\n| a | table |\n|---|---|\n",
        "# A page\n\n![a picture](x.svg)\n",
        "# A page\n\nToo short.",
        "# A page\n",
    ],
)
def test_a_page_without_an_opening_is_seen(text: str) -> None:
    assert len(opening(text).split()) < 9


def test_an_opening_is_found_behind_a_label_and_a_comment() -> None:
    assert opening("# Title\n\n<!-- made by a script -->\n\nFor whom\nit is.\n\nMore.") == "For whom it is."


def test_the_sidebar_is_short() -> None:
    assert 6 <= len(list(_toctrees(DOCS / "index.md"))) <= ENTRIES


def test_the_home_page_has_code_pictures_and_four_doors() -> None:
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    assert "```python\n" in home
    assert len(re.findall(r"figures/\w+\.(?:svg|png)", home)) >= 4
    doors = re.findall(r":::\{container\} door\n(.*?)^:::$", home, flags=re.M | re.S)
    assert len(doors) == 4
    for reader, door in zip(READERS, doors, strict=True):
        assert f"*The {reader}.*" in door
        assert f"(tutorials/{reader}.md)" in door


@pytest.mark.slow
def test_the_home_page_shows_what_its_code_prints(capsys: pytest.CaptureFixture[str]) -> None:
    home = (DOCS / "index.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```", home, flags=re.M | re.S)
    (block,) = re.findall(r"^```python\n(.*?)^```", home, flags=re.M | re.S)
    exec(compile(block, "docs/index.md", "exec"), {"__name__": "__home__"})
    assert capsys.readouterr().out.startswith(shown)


def test_the_grid_of_pictures_is_fresh_and_whole() -> None:
    script = run_path(str(DOCS / "make_gallery.py"))
    stored = (DOCS / "_generated" / "gallery.md").read_text(encoding="utf-8")
    assert stored == script["page"](), "run: python docs/make_gallery.py"
    for picture in script["pictures"]():
        assert (ROOT / picture.script).is_file()
    assert {picture.name for picture in script["pictures"]()} == {
        path.stem for path in (DOCS / "figures").glob("*.svg")
    }
