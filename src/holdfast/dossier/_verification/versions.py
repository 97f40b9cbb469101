"""Versions: which version of holdfast can judge a page, by what the page says of who made it.

A page names the version that made it, the format of its record, and the renderer that drew it. One version makes one
format with one renderer, so the three must fit each other: where they do not, the page is forged, and no other version
need be asked. Where they do, and the version is another one, only that version can draw the page again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import holdfast
from holdfast.dossier._record import FORMAT
from holdfast.dossier._renderer import renderer

_NUMBER = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})", re.ASCII)
"""The number of a version that is published; one that is being worked on has more behind it, such as `.dev0`."""
_FORMAT = re.compile(r"holdfast-dossier/[1-9][0-9]{0,5}", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class PageMaker:
    """What a version of holdfast makes pages with."""

    format: str
    renderer: str


PUBLISHED: Mapping[str, PageMaker] = {}
"""Every version that was published before this one (CONTRIBUTING, Releasing); none was yet."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Who made a page, as far as it says: a version of holdfast, and what does not fit that version."""

    version: str
    format: object
    problems: tuple[str, ...] = ()

    @property
    def is_own(self) -> bool:
        """Whether this version of holdfast made it, so that this one can judge it."""
        return self.version == holdfast.__version__

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Origin:
        """By the record of a page as it is written, of whatever format."""
        version, form, drawn_by = (written.get(name) for name in ("holdfast", "format", "renderer"))
        if not isinstance(version, str) or not (version == holdfast.__version__ or _was_published(version)):
            problem = f"the page says that holdfast {_short_text(version)} made it, and no such version was published"
            return cls(version=_short_text(version), format=form, problems=(problem,))
        maker, problems = _maker(version), []
        if maker is None:
            fits = _matches(_FORMAT, form), _matches(_HASH, drawn_by)
        else:
            fits = form == maker.format, drawn_by == maker.renderer
        if not fits[0]:
            wanted = "holdfast-dossier and a number" if maker is None else maker.format
            problems.append(
                f"holdfast {version} writes the format {wanted}, and the page has {_short_text(form)}"
            )
        if not fits[1]:
            problems.append(f"the page says that holdfast {version} drew it, and names another renderer")
        return cls(version=version, format=form, problems=tuple(problems))


def _maker(version: str) -> PageMaker | None:
    """What the version makes; None for a later one, which this one cannot know."""
    if version == holdfast.__version__:
        return PageMaker(format=FORMAT, renderer=renderer())
    return PUBLISHED.get(version)


def _was_published(version: str) -> bool:
    """Whether it is one of the versions before this one, or may be one after it."""
    later = _number(version) > _number(holdfast.__version__) or (
        _number(version) == _number(holdfast.__version__) and not _NUMBER.fullmatch(holdfast.__version__)
    )
    return bool(_NUMBER.fullmatch(version)) and (later or version in PUBLISHED)


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _number(version: str) -> tuple[int, ...]:
    """The number that a version begins with; nothing where it begins with none."""
    match = _NUMBER.match(version)
    return () if match is None else tuple(map(int, match.groups()))


def _short_text(value: object) -> str:
    """What a page says of itself, short enough for a message."""
    return repr(value if isinstance(value, str | int | float | None) else type(value).__name__)[:60]
