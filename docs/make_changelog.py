"""Gather the fragments of a release: `python docs/make_changelog.py VERSION [DATE]`.

The fragments of `changes/` become a section of CHANGELOG.md, by kind and **Security** first, and are removed; the page
of the site then shows that section. Part of the release checklist in CONTRIBUTING.md.
"""

from __future__ import annotations

import datetime
import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("Security", "Added", "Changed", "Fixed")
UNRELEASED = "## Unreleased\n\nThe fragments in [`changes/`](changes/README.md).\n"


def section(fragments: Mapping[str, str], *, version: str, date: str) -> str:
    """One section of the changelog; no fragment, or one of no known kind, is refused.

    A fragment may have several parts, each with its kind, and links as the page of the site has them.
    """
    if not fragments:
        raise ValueError("changes/ holds no fragment: there is nothing to release")
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for name, text in sorted(fragments.items()):
        before, *parts = re.split(rf"\*\*({'|'.join(KINDS)})\*\*\s+", text)
        if before.strip() or not parts:
            raise ValueError(f"{name} must begin with one of {', '.join(f'**{kind}**' for kind in KINDS)}")
        for kind, part in zip(parts[::2], parts[1::2], strict=True):
            said = _linked(" ".join(part.split()))
            kinds[kind].append(f"- {said[0].upper()}{said[1:]}\n")
    parts = [f"### {kind}\n\n{''.join(entries)}" for kind, entries in kinds.items() if entries]
    return f"## {version} ({date})\n\n" + "\n".join(parts)


def _linked(said: str) -> str:
    """Fragments are read on the site, from docs/; the changelog lies above it."""

    def moved(link: re.Match[str]) -> str:
        place = link[1].removeprefix("../docs/")
        return f"](docs/{place})" if not re.match(r"https?:|\.\./|#", place) else link[0]

    return re.sub(r"\]\(([^)\s]+)\)", moved, said)


def gathered(changelog: str, new: str) -> str:
    """The changelog with the new section below what is unreleased."""
    before, found, after = changelog.partition(UNRELEASED)
    if not found:
        raise ValueError("CHANGELOG.md has no section 'Unreleased' that points to the fragments")
    return f"{before}{found}\n{new.rstrip()}\n{after}"


def site_page(text: str) -> str:
    """The page of the site after a release: its opening words, fragments to come, then what CHANGELOG.md has."""
    kept = re.split(r"\n```\{include\} \.\./CHANGELOG", text)[0].rstrip("\n") + "\n"
    return (
        f'{kept}\n```{{include}} ../CHANGELOG.md\n:start-after: "README.md)."\n:relative-docs: docs/\n```\n'
    )


def main() -> None:
    """Rewrite CHANGELOG.md and the site's page, and remove the fragments."""
    version = sys.argv[1]
    if not re.fullmatch(r"\d+\.\d+\.\d+\w*", version):
        raise SystemExit(
            f"the version must be three numbers, such as 0.1.0, got {version!r}; nothing was changed"
        )
    date = sys.argv[2] if len(sys.argv) > 2 else datetime.date.today().isoformat()
    paths = [path for path in sorted((ROOT / "changes").glob("*.md")) if path.name != "README.md"]
    new = section({path.name: path.read_text(encoding="utf-8") for path in paths}, version=version, date=date)
    log = ROOT / "CHANGELOG.md"
    log.write_text(gathered(log.read_text(encoding="utf-8"), new), encoding="utf-8")
    page = ROOT / "docs" / "changelog.md"
    page.write_text(site_page(page.read_text(encoding="utf-8")), encoding="utf-8")
    for path in paths:
        path.unlink()


if __name__ == "__main__":
    main()
