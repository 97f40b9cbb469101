"""The docs say what the code does: links, names, numbers and pictures are checked against it."""

from __future__ import annotations

import re
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

import holdfast
from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts and "_generated" not in p.parts)
TOP = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _script(name: str) -> dict[str, Any]:
    return run_path(str(DOCS / name))


# Pages and links.


def _toctrees(page: Path) -> Iterator[Path]:
    for block in re.findall(
        r"^```\{toctree\}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S
    ):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                yield (page.parent / f"{line.strip()}.md").resolve()


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = {DOCS / "index.md"}, [DOCS / "index.md"]
    while waiting:
        for child in _toctrees(waiting.pop()):
            assert child.is_file(), f"a toctree names {_name(child)}, which does not exist"
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    assert {_name(p) for p in PAGES} == {_name(p) for p in reached}


@pytest.mark.parametrize("page", [*TOP, *PAGES], ids=_name)
def test_internal_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        place = target.split("#")[0]
        if not place or place.startswith("https://"):
            continue
        assert (page.parent / place).exists(), f"{_name(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_included_files_and_pictures_exist_and_pictures_have_words(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for kind, target, body in re.findall(
        r"^```\{(include|image|literalinclude)\} (\S+)\n(.*?)^```", text, flags=re.M | re.S
    ):
        assert (page.parent / target).is_file(), f"{_name(page)} shows {target}"
        assert kind != "image" or ":alt: " in body, f"{target} in {_name(page)} has no text alternative"


@pytest.mark.parametrize("page", [*TOP, *PAGES], ids=_name)
def test_no_line_is_taken_for_a_comment_or_a_bullet(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert not re.search(r"^ *(%|\+ )", text, flags=re.M)


@pytest.mark.parametrize("page", [*TOP, *PAGES], ids=_name)
def test_pages_name_no_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w.])/(work|home|root|tmp|usr)/", page.read_text(encoding="utf-8"))


# Code on pages.


def _blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def _clinic(path: Path) -> None:
    """The invented file that pages read when they need one."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns = {"patient": ["a", "a", "b"], "age": [34, 34, 71], "sex": ["F", "F", "M"]}
    parquet.write_table(pa.table(columns), path)


def _draws(example: Path) -> bool:
    return "def picture(" in example.read_text(encoding="utf-8")


# README, the first page and the tutorials run in environments of their own, from a wheel: tests/test_wheel.py.
RUN = [
    page
    for page in [*TOP, *PAGES]
    if _blocks(page) and page.name not in ("README.md", "start.md") and page.parent.name != "tutorials"
]


@pytest.mark.parametrize("page", RUN, ids=_name)
def test_python_on_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    _clinic(tmp_path / "clinic.parquet")
    complaints = _script("run_pages.py")["run_page"](page)
    assert not complaints, "".join(complaints)


def test_the_readme_shows_what_its_example_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = (block for block in _blocks(ROOT / "README.md") if "counts_l2" in block)
    exec(example, {"__name__": "__readme__"})
    shown = next(
        block
        for block in re.findall(r"^```text\n(.*?)^```", text, flags=re.M | re.S)
        if "whoever was" in block
    )
    assert capsys.readouterr().out.startswith(shown)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs_and_draws_its_picture(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", [path.name, str(tmp_path / "picture.svg")])
    run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed
    if _draws(path):
        assert (tmp_path / "picture.svg").stat().st_size > 5_000
        assert f"picture: {tmp_path / 'picture.svg'}" in printed


def test_every_example_is_in_the_gallery() -> None:
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for path in EXAMPLES:
        assert f"../examples/{path.name}" in gallery
        assert _draws(path) == (f"figures/example_{path.stem}.svg" in gallery)


# What is generated is fresh.


def test_the_command_reference_is_fresh() -> None:
    fresh = _script("make_cli.py")["page"]()
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == fresh, "run: make lists"


def test_every_command_has_help_and_says_what_its_options_do() -> None:
    script = _script("make_cli.py")
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name, command, _ in script["commands"](script["app"]):
        assert command.help, f"{name} has no help"
        assert re.search(rf"^#+ {re.escape(name)}$", page, flags=re.M), f"{name} has no place in docs/cli.md"
        options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        silent = [option.name for option in options if not option.help]
        assert not silent, f"options of {name} without help: {silent}"


@pytest.mark.parametrize(
    "name",
    [
        "_generated/faults.md",
        "_generated/forgeries.md",
        "_generated/mutation.md",
        "_generated/mutation_classes.md",
        "_generated/mechanisms.md",
        "_generated/record.md",
        "_generated/currencies.md",
        "_generated/methods.md",
        "_generated/synthesisers.md",
        "_generated/attacks.md",
        "benchmarks.md",
        "../README.md",
    ],
)
def test_the_tables_are_fresh(name: str) -> None:
    fresh = _script("make_tables.py")["TABLES"][name]()
    assert (DOCS / name).read_text(encoding="utf-8") == fresh, "run: make lists"


@pytest.mark.parametrize(
    ("page", "table"), [("which-method.md", "methods.md"), ("synth.md", "synthesisers.md")]
)
def test_every_method_is_described_where_people_choose_one(page: str, table: str) -> None:
    """In its own words, by a table that the page shows."""
    from holdfast.learn._catalogue import LEARNERS
    from holdfast.synth._catalogue import SYNTHESISERS

    assert f"```{{include}} _generated/{table}\n" in (DOCS / page).read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| (.+?) \|", (DOCS / "_generated" / table).read_text(encoding="utf-8"), flags=re.M
    )
    described = {name for name, what in rows if len(what.split()) >= 4}
    every = LEARNERS if table == "methods.md" else SYNTHESISERS
    assert {method.name for method in every} == described, "run: make lists"


def test_what_is_said_of_a_method_at_length_is_of_one_that_there_is() -> None:
    from holdfast.learn._catalogue import LEARNERS

    text = (DOCS / "which-method.md").read_text(encoding="utf-8").split("## What each does")[1]
    assert set(re.findall(r"\*\*`(\w+)`\*\*", text)) <= {method.name for method in LEARNERS}


def test_the_list_of_papers_is_fresh() -> None:
    fresh = _script("make_papers.py")["page"]()
    assert (DOCS / "papers.md").read_text(encoding="utf-8") == fresh, "run: make lists"


def test_every_figure_is_drawn_by_the_script_and_shown() -> None:
    source = (DOCS / "figures" / "make.py").read_text(encoding="utf-8")
    drawn = set(re.findall(r'^    "(\w+)": ', source.split("FIGURES:")[1], flags=re.M))
    # A reproduction names its own figures, and shows them on the page of results that it writes.
    results = "".join(
        p.read_text(encoding="utf-8") for p in (ROOT / "studies" / "reproductions" / "results").glob("*.md")
    )
    drawn |= set(re.findall(r"figures/(\w+)\.svg", results))
    for name in ("walks.py", "rooms.py"):
        drawn |= set(re.findall(r"figures/(\w+)\.svg", (DOCS / name).read_text(encoding="utf-8")))
    # Written with its page by docs/make_attributes.py, from tables that are not in the repository.
    drawn |= set(
        re.findall(r"figures/(attributes_\w+)\.svg", (DOCS / "attributes.md").read_text(encoding="utf-8"))
    )
    assert drawn == {p.stem for p in (DOCS / "figures").glob("*.svg")}, "run: make figures"
    shown = results + "".join(page.read_text(encoding="utf-8") for page in [*TOP, *PAGES])
    assert all(f"figures/{name}.svg" in shown for name in drawn)


def test_every_fragment_of_the_changelog_says_its_kind() -> None:
    for path in (ROOT / "changes").glob("*.md"):
        if path.name == "README.md":
            continue
        assert re.match(r"\*\*(Added|Changed|Fixed|Security)\*\* ", path.read_text(encoding="utf-8")), (
            path.name
        )


# Papers, sections, dependencies.


def _plain(text: str) -> str:
    """Letters without their accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter)
    )


def _cited(text: str) -> set[tuple[str, str]]:
    """(first surname, year) of every citation such as `Balle and Wang 2018` or `Ding et al. 2021`."""
    name = r"[A-Z][\w-]+"
    pattern = rf"({name})(?:(?:,\s{name})*,?\sand\s{name}|\set\sal\.)?,?\s\(?((?:19|20)\d\d)\b"
    return set(re.findall(pattern, text))


def test_every_paper_cited_in_the_code_is_listed() -> None:
    papers = _script("make_papers.py")["entries"]((DOCS / "papers.bib").read_text(encoding="utf-8"))
    known = {(_plain(re.split(r"[, ]", paper["author"])[0]), paper["year"]) for paper in papers}
    not_names = {"Section", "Since", "In", "Copyright", "January", "Python"}
    missing = {
        f"{name} {year} ({_name(path)})"
        for path in (ROOT / "src").rglob("*.py")
        for name, year in _cited(_plain(re.sub(r"\s+", " ", path.read_text(encoding="utf-8")))) - known
        if name not in not_names
    }
    assert not missing, f"add to docs/papers.bib: {', '.join(sorted(missing))}"


def test_every_soundness_section_cited_in_the_code_exists() -> None:
    there = set(
        re.findall(r"^\(section-(\d+)\)=", (DOCS / "soundness.md").read_text(encoding="utf-8"), flags=re.M)
    )
    for path in (ROOT / "src").rglob("*.py"):
        text = re.sub(r"\s+#?\s*", " ", path.read_text(encoding="utf-8"))
        for listed in re.findall(r"[Ss]oundness(?: notes)?, sections? (\d+(?:(?:, | and )\d+)*)", text):
            assert set(re.findall(r"\d+", listed)) <= there, (
                f"{_name(path)} cites soundness, section {listed}"
            )


def test_every_dependency_and_extra_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    note = (DOCS / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    for wanted in [*project["dependencies"], *project["optional-dependencies"]]:
        name = re.split(r"[\[<>=]", wanted)[0]
        assert re.search(rf"^\| `?{re.escape(name)}`? \|", note, flags=re.M), f"{name} is not in the note"


def test_the_note_names_the_parts_of_scipy_that_are_used() -> None:
    note = (DOCS / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    row = " ".join(re.findall(r"^\| scipy \|.*$", note, flags=re.M))
    used = {
        part
        for path in (ROOT / "src").rglob("*.py")
        for part in re.findall(r"^\s*from (scipy\.\w+)", path.read_text(encoding="utf-8"), flags=re.M)
    }
    assert "scipy.special" in used
    assert set(re.findall(r"`(scipy\.\w+)`", row)) == used


def test_the_readme_lists_the_commands_there_are() -> None:
    from holdfast._cli.app import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    status = text.split("## Status")[1].split("##")[0].replace("\n", " ")
    assert set(re.findall(r"`(\w+)`", status.split("the commands")[1].split("**Coming**")[0])) == set(
        COMMANDS
    )


def test_citation_and_licence_agree_with_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {holdfast.__version__}\n" in citation
    assert "\nlicense: Apache-2.0\n" in citation
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


# The built site.


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_asks_for_nothing(tmp_path: Path) -> None:
    import subprocess

    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        str(DOCS),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) > len(PAGES) - 1
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(
            r"<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=[\"'](?:https?:)?//[^\"']+", text
        )
        assert not loaded, f"{page.name} loads {loaded}"
        assert not re.search(r":(?:term|ref|func|class|meth|mod):", text), f"{page.name} shows markup"
    for page in (tmp_path / "notebooks").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert text.index("highlight-python") < text.index("<h2>"), f"{page.name} imports at its end"
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//|@import", style.read_text(encoding="utf-8")), (
            style.name
        )
