"""Write the table of all items in docs/reproductions.md, the list of its pages, and the totals in README.md.

    python docs/make_reproductions.py

Everything comes from `studies/reproductions/items/*.toml` and from the results that they point to.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # reproductions are not installed

from studies.reproductions.seed_items import RESULTS, VERDICTS, Item, load  # noqa: E402

PAGE, README = ROOT / "docs" / "reproductions.md", ROOT / "README.md"
BEGIN, END = "<!-- reproductions: written by docs/make_reproductions.py -->", "<!-- end -->"
ORDER = (
    "000_excess_risk",
    "000_membership",
    "000_panels",
    "000_query_release",
    "001_bolt_on",
    "001_runtime",
    "001_runtime_postgres",
    "001_linear_regression",
    "001_model_inversion",
    "001_influence",
    "mehnaz_2022",
    "004_one_run_audit",
)
"""Pages in the order of the documents; others follow by name."""
HEAD = """# Reproductions

What the source documents ask or claim, run again with sound formulas. First every computable item of the five
documents, with a verdict; then the pages of results, each written by one script in `studies/reproductions/` and
followed by what the documents print of its numbers. Where a printed formula is wrong, the printed version is shown
beside the sound one and labelled so.

All of it again, resumable: `make reproductions` (hours and memory are printed first); `make reproductions QUICK=1`
shows in minutes that everything runs, and says what it cannot show.

## Every item

**confirmed**: holds as printed. **corrected**: something in it does not; what holds is implemented and tested, and open
questions that are answered count here. **refuted**: false as printed, or our number is another. **not reproducible**:
the document does not give what it takes. **not yet**: it could be done. A verdict beside numbers is computed from them:
a comparison, a distance, or, where a document prints a single run, whether one more run of ours could have given it
(95 %, by the scatter of ours). *ours* are numbers of the pages below with their distance from the printed ones, or a
test."""


def cell(text: str) -> str:
    """Safe inside a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def shown(number: float) -> str:
    """Four digits, no more."""
    return f"{number:.4g}"


def printed(item: Item) -> str:
    """As in the document."""
    return ", ".join(shown(value) if isinstance(value, float) else cell(str(value)) for value in item.printed)


def ours(item: Item) -> str:
    """Numbers with their distance from the printed ones where there is one; else a test; else where the code is."""
    if item.waiting:
        return "not measured yet"
    if item.ours:
        numbers = item.numbers
        pairs = list(zip(numbers, item.printed, strict=True)) if len(numbers) == len(item.printed) else []
        if pairs and all(isinstance(value, float) for _, value in pairs):
            return ", ".join(f"{shown(own)} ({own - float(value):+.2g})" for own, value in pairs)
        return ", ".join(shown(number) for number in numbers)
    if item.test:
        file, _, name = item.test[0].partition("::")
        return f"`{Path(file).stem}`: {cell(name.removeprefix('test_').replace('_', ' '))}"
    return ""


def table(items: list[Item]) -> list[str]:
    """One line for each item, a table for each document."""
    lines: list[str] = []
    for place, item in enumerate(items):
        if not place or item.document != items[place - 1].document:
            lines += ["", f"### {item.document}", ""]
            lines += ["| item | what | printed | ours | verdict |", "|---|---|---|---|---|"]
        why = f": {cell(item.why)}" if item.why else ""
        lines.append(
            f"| {cell(item.item)} (§ {cell(item.section)}) | {cell(item.what)} | {printed(item)} "
            f"| {ours(item)} | **{item.verdict}**{why} |"
        )
    return lines


def totals(items: list[Item]) -> list[str]:
    """By document and verdict."""
    lines = ["| document | items | " + " | ".join(VERDICTS) + " |", "|---|" + "---:|" * (len(VERDICTS) + 1)]
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.document, []).append(item)
    for document, group in [*groups.items(), ("all", items)]:
        found = Counter(item.verdict for item in group)
        cells = [str(len(group)), *(str(found[verdict]) for verdict in VERDICTS)]
        lines.append(f"| {document} | " + " | ".join(cells) + " |")
    return lines


def beside(name: str, items: list[Item]) -> list[str]:
    """What the documents print of a page's numbers, ours, and whether they agree."""
    own = [
        item
        for item in items
        if any(pointer.startswith((f"{name}.md", f"{name}.json")) for pointer in item.ours)
    ]
    if not own:
        return []
    found = Counter(item.verdict for item in own)
    said = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict])
    lines = [f"**Printed, and ours on this page** ({said}; in brackets ours less the printed number):", ""]
    lines += ["| item | what | printed | ours | verdict |", "|---|---|---|---|---|"]
    lines += [
        f"| {cell(item.item)} | {cell(item.what)} | {printed(item)} | {ours(item)} | **{item.verdict}** |"
        for item in own
    ]
    return [*lines, ""]


def pages(items: list[Item]) -> list[str]:
    """Every page of results, included, and after it what the documents print."""
    names = sorted(
        (path.stem for path in RESULTS.glob("*.md")),
        key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name),
    )
    lines = []
    for name in names:
        lines += [
            "```{include} ../studies/reproductions/results/" + name + ".md",
            ":heading-offset: 1",
            ":relative-images:",
        ]
        lines += ["```", "", *beside(name, items)]
    return lines


def page(items: list[Item]) -> str:
    """The whole of docs/reproductions.md."""
    lines = [HEAD, "", *totals(items), *table(items), "", *pages(items)]
    return "\n".join(lines).rstrip() + "\n"


def block(items: list[Item]) -> str:
    """The totals in the README."""
    found = Counter(item.verdict for item in items)
    words = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)
    return (
        f"{BEGIN}\n{len(items)} items (theorems, algorithms, figures, tables) of the five documents that holdfast grew "
        f"from, checked again: {words} ([the table](docs/reproductions.md#every-item)).\n{END}"
    )


def readme(items: list[Item], text: str) -> str:
    """The README with its totals renewed."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + block(items) + after


def main() -> None:
    """Write both."""
    items = load()
    for item in items:
        item.check()
    PAGE.write_text(page(items), encoding="utf-8")
    README.write_text(readme(items, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
