"""Write docs/papers.md from docs/papers.bib, and what a dossier cites: `python docs/make_papers.py`.

A dossier works without a network, so the full citations of all papers and the soundness notes lie in the package.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE / "papers.md"
PACKAGE = HERE.parent / "src" / "holdfast"
REFERENCES = PACKAGE / "dossier" / "_templates" / "references.json"
_ACCENTS = {
    r"{\'e}": "é",
    r"{\`e}": "è",
    r"{\'i}": "í",
    r"{\'u}": "ú",
    r"{\'E}": "É",
    r"{\"o}": "ö",
    r"{\"u}": "ü",
}
_TOPICS = {
    "mechanisms": "Mechanisms",
    "curves": "Curves and trade-offs",
    "composition": "Composition",
    "adaptive spending": "Adaptive spending",
    "noise": "Noise on finite computers",
    "learning": "Learning",
    "synthesis": "Synthetic data",
    "attacks": "Attacks",
    "auditing": "Auditing",
    "sources": "Documents that started the project",
}
_INTRO = """\
# Papers

The papers that theorem strings, comments and pages of holdfast rest on, with what each is used for. Where a
printed statement is too weak, too strong or misprinted, [the soundness notes](soundness.md) say what is
implemented instead.
The whole list as BibTeX: {download}`papers.bib`.
"""


def entries(text: str) -> list[dict[str, str]]:
    """The records of a BibTeX file written one field per line."""
    found = []
    for kind, key, body in re.findall(r"^@(\w+)\{([^,]+),\n(.*?)^\}", text, flags=re.M | re.S):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", body, flags=re.M))
        for written, letter in _ACCENTS.items():
            fields = {name: value.replace(written, letter) for name, value in fields.items()}
        found.append({"kind": kind, "key": key} | fields)
    return found


def names(author: str) -> str:
    """`Last, First and Last, First` as `First Last and First Last`."""
    people = [" ".join(reversed(person.split(", ", 1))) for person in author.split(" and ")]
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + " and " + people[-1]


def line(paper: dict[str, str]) -> str:
    """One paper as an item of a list."""
    venue = next((paper[field] for field in ("booktitle", "journal", "publisher") if field in paper), "")
    volume = f" {paper['volume']}" if "volume" in paper else ""
    where = f" *{venue}*{volume}," if venue else ""
    eprint = paper.get("eprint")
    link = f" [arXiv:{eprint}](https://arxiv.org/abs/{eprint})." if eprint else ""
    stop = "" if paper["title"].endswith("?") else "."
    who, what = names(paper["author"]), f"{paper['title']}{stop}{where} {paper['year']}."
    return f"- **{paper['key']}** {who}. {what}{link} For {paper['usedfor']}."


def page() -> str:
    """The whole page."""
    papers = entries((HERE / "papers.bib").read_text(encoding="utf-8"))
    parts = [_INTRO]
    for topic, title in _TOPICS.items():
        chosen = sorted((p for p in papers if p["topic"] == topic), key=lambda p: (p["year"], p["key"]))
        parts.append(f"## {title}\n\n" + "\n".join(line(paper) for paper in chosen) + "\n")
    return "\n".join(parts)


def forms(paper: dict[str, str]) -> list[str]:
    """How a theorem cites a paper: by its key, or by its authors and its year.

    >>> forms({"key": "ST22", "author": "Smith, Adam and Thakurta, Abhradeep", "year": "2022"})
    ['ST22', 'Smith and Thakurta 2022']
    """
    last = [person.split(", ", 1)[0] for person in paper["author"].split(" and ")]
    told = [" and ".join(last)] if len(last) < 3 else [f"{', '.join(last[:-1])} and {last[-1]}"]
    told += [f"{last[0]} et al."] * (len(last) > 2)
    return [paper["key"], *(f"{names} {paper['year']}" for names in told)]


def citation(paper: dict[str, str]) -> str:
    """The paper in full, as plain text."""
    text = line(paper).partition("** ")[2].partition(" For ")[0]
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text).replace("*", "")


def sections() -> dict[str, dict[str, str]]:
    """The soundness notes by number, as plain text."""
    text = (HERE / "soundness.md").read_text(encoding="utf-8")
    found = re.findall(
        r"^\(section-(\d+)\)=\n## Section \d+: (.*?)\n(.*?)(?=^\(section-|\Z)", text, flags=re.M | re.S
    )
    return {number: {"title": title, "text": _plain(body)} for number, title, body in found}


def _plain(text: str) -> str:
    """Without the marks of a page: emphasis, code, links, lines that were broken."""
    text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text.strip()).replace("**", "").replace("`", "")
    return re.sub(r"(?<=\S)\n(?=[^\s|-])", " ", text)


def pages() -> dict[str, str]:
    """The pages of the documentation that words of the package name, with their titles."""
    named = {
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"docs/([a-z-]+)\.md", path.read_text(encoding="utf-8"))
    }
    first = {name: (HERE / f"{name}.md").read_text(encoding="utf-8") for name in sorted(named)}
    return {name: text.partition("# ")[2].partition("\n")[0] for name, text in first.items()}


def references() -> str:
    """What a dossier can cite: papers, soundness notes, and pages of the documentation."""
    papers = entries((HERE / "papers.bib").read_text(encoding="utf-8"))
    made: dict[str, Any] = {
        "papers": [{"names": forms(paper), "text": citation(paper)} for paper in papers],
        "sections": sections(),
        "pages": pages(),
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    REFERENCES.write_text(references(), encoding="utf-8")
