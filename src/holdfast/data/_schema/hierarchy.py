"""Hierarchy: categories with coarser ones above them, counted at one level: postcodes, areas, regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from holdfast._arguments import checked
from holdfast.data._schema.columns import Categorical, check_text, declared_options
from holdfast.errors import ParameterError, require

#: A level is fine enough if a cell holds on average so many times the noise of a count.
LEAST_SIGNAL = 5.0


@checked
@dataclass(frozen=True)
class Hierarchy(Categorical):
    """Categories that belong to coarser ones; `level` says which of them are the cells.

    Without a `level`, it is 0 for whoever counts, and a `Synthesizer` or a model chooses one: the finest at
    which a cell holds, on average, several times the noise of a count. That needs the public number of rows and
    the budget, and nothing of the data. A value that is already coarse (`"10*"`, or the name of an area) is
    read as what it says.

    Parameters
    ----------
    name : str
        The name of the column.
    categories : sequence of str, int or bool
        The finest categories, which are level 0; they are public and must not be read from the data.
    other, null, taken_from_data, aliases, trim, fold, nulls, ordered, dtype
        As in `Categorical`.
    coarser : sequence of int or mapping
        The levels above the categories, each coarser than the one before: a number is that many leading letters
        (the area of a postcode), a mapping gives the coarse name of every category.
    level : int, optional
        Which level the cells are of.

    Examples
    --------
    >>> codes, regions = ["10115", "10117", "20095"], {"10*": "east", "20*": "north"}
    >>> place = Hierarchy("postcode", codes, coarser=[2, regions], level=1)
    >>> place.labels, place.spellings["10117"], place.at(2).labels
    (('10*', '20*'), 0, ('east', 'north'))
    """

    kind: ClassVar[str] = "hierarchy"
    coarser: Sequence[int | Mapping[str, str] | Sequence[tuple[str, str]]] = ()
    level: int | None = None

    def __post_init__(self) -> None:
        given = self.coarser
        listed = isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) > 0
        require(listed, "coarser", given, "a list of levels: numbers of leading letters, or mappings")
        for step in given:
            require(
                isinstance(step, int | Mapping | tuple), "coarser", step, "a number of letters or a mapping"
            )
        stored = [step if isinstance(step, int) else tuple(dict(step).items()) for step in given]
        object.__setattr__(self, "coarser", tuple(stored))
        levels = len(stored) + 1
        good = self.level is None or (type(self.level) is int and 0 <= self.level < levels)
        require(
            good, "level", self.level, f"a whole number from 0, the categories, to {levels - 1}, or left out"
        )
        super().__post_init__()
        self.steps  # noqa: B018 - every level must be complete

    @cached_property
    def steps(self) -> tuple[tuple[str, ...], ...]:
        """For every level the name of each category there, from the finest level on."""
        levels = [tuple(str(category) for category in self.categories)]
        for place, step in enumerate(self.coarser, start=1):
            if isinstance(step, int):
                good = step >= 1 and not isinstance(step, bool)
                require(good, "coarser", step, "a number of letters >= 1, or a mapping")
                names: list[str | None] = [f"{category[:step]}*" for category in levels[0]]
            else:
                above = dict(step)
                names = [
                    above.get(fine, above.get(mine)) for mine, fine in zip(levels[0], levels[-1], strict=True)
                ]
                if None in names:
                    raise ParameterError(
                        f"coarser level {place} of column {self.name!r} must name every category of the level below, "
                        f"got no name for {levels[-1][names.index(None)]!r}; add it"
                    )
            for name in names:
                check_text("coarser", name)
            parents: dict[str, str] = {}
            for mine, name in zip(levels[-1], names, strict=True):
                if parents.setdefault(mine, str(name)) != name:
                    raise ParameterError(
                        f"coarser level {place} of column {self.name!r} must be coarser than the one below, but "
                        f"{mine!r} is in {parents[mine]!r} and in {name!r}"
                    )
            levels.append(tuple(map(str, names)))
        return tuple(levels)

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """The cells of this level."""
        return tuple(dict.fromkeys(self.steps[self.level or 0]))

    def _codes(self) -> Sequence[int]:
        place = {name: code for code, name in enumerate(self.declared_labels)}
        return [place[name] for name in self.steps[self.level or 0]]

    def meanings(self) -> list[tuple[str, int]]:
        """The declared texts and their cells; the names of this level and of those below, too."""
        meanings = super().meanings()
        known = {text for text, _ in meanings}
        for names in self.steps[1 : (self.level or 0) + 1]:
            more = dict(zip(names, self._codes(), strict=True))
            meanings += [(name, code) for name, code in more.items() if name not in known]
            known |= set(more)
        return meanings

    def at(self, level: int) -> Hierarchy:
        """The same column, counted at this level."""
        return replace(self, level=level)

    def finest(self, *, rows: int, noise: float) -> int:
        """The finest level whose cells hold on average `LEAST_SIGNAL` times this `noise` of so many `rows`.

        Public numbers.
        """
        fits = (
            level for level in range(len(self.steps)) if rows / self.at(level).cells >= LEAST_SIGNAL * noise
        )
        return next(fits, len(self.steps) - 1)

    def to_dict(self) -> dict[str, Any]:
        """The declaration as plain values, for files."""
        steps = [dict(step) if isinstance(step, tuple) else step for step in self.coarser]
        return super().to_dict() | {"coarser": steps} | declared_options(self, ("level",))

    def describe(self) -> str:
        """The declaration in words."""
        sizes = " > ".join(str(len(set(names))) for names in self.steps)
        level = "level chosen by whoever releases" if self.level is None else f"level {self.level}"
        return f"{super().describe()}; levels of {sizes} names, {level}"
