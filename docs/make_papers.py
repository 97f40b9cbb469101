"""Write docs/papers.md from docs/papers.bib: `python docs/make_papers.py`."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE / "papers.md"
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
