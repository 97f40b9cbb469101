"""`by`: the same questions for every group of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.data._group_sums import CellKey, Key
from holdfast.data._key_counts import FoundKey
from holdfast.errors import ParameterError, require
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._table_facts import TableFacts
from holdfast.statistics._unknown_keys import UnknownKeys


@dataclass(frozen=True)
class Grouping:
    """Questions, asked of the rows of each combination of some keys."""

    keys: tuple[Key | UnknownKeys, ...]
    questions: tuple[TableQuestion, ...]

    @property
    def unknown(self) -> UnknownKeys | None:
        """The keys that have to be found first."""
        return next((key for key in self.keys if isinstance(key, UnknownKeys)), None)


@checked
def by(*keys_and_questions: str | Key | UnknownKeys | TableQuestion) -> Grouping:
    """Ask questions of every group: first the columns whose cells are the groups, then the questions.

    Every declared group is answered, whether rows fall into it or not; no row tells which groups there are.

    Parameters
    ----------
    *keys_and_questions : str, Key, UnknownKeys or TableQuestion
        One or more columns of the schema, then one or more questions. One may be `UnknownKeys`, first: its groups are
        found privately, and questions may then be left out.

    Returns
    -------
    Grouping
        An entry of the list that `answer` takes.

    Examples
    --------
    >>> from holdfast.statistics import Count
    >>> len(by("ward", "sex", Count()).keys)
    2
    """
    questions = tuple(entry for entry in keys_and_questions if isinstance(entry, TableQuestion))
    keys = keys_and_questions[: len(keys_and_questions) - len(questions)]
    unknown = [place for place, key in enumerate(keys) if isinstance(key, UnknownKeys)]
    if unknown not in ([], [0]):
        raise ParameterError(
            "by takes one UnknownKeys at most, and takes it first; name all its columns in it"
        )
    enough = questions or (unknown and len(keys) == 1)
    if not keys or not enough or any(isinstance(key, TableQuestion) for key in keys):
        raise ParameterError(
            "by takes columns first and questions then, as in by('ward', Count()), got "
            f"{len(keys_and_questions) - len(questions)} columns and {len(questions)} questions"
        )
    listed = tuple(CellKey(key) if isinstance(key, str) else key for key in keys)
    return Grouping(listed, questions)  # type: ignore[arg-type]  # no question is among them


@dataclass(frozen=True)
class Asked:
    """One question with the keys of its groups."""

    question: TableQuestion
    keys: tuple[Key, ...]


def asked_of(questions: Sequence[TableQuestion | Grouping], facts: TableFacts) -> tuple[Asked, ...]:
    """Every question with its keys; refused where two columns of one table would have the same name."""
    require(len(questions) > 0, "questions", questions, "at least one question, such as Count()")
    listed = [
        Asked(question, (*_keys_of(entry), *question.own_keys(facts)))
        for entry in questions
        for question in (entry.questions if isinstance(entry, Grouping) else (entry,))
    ]
    seen: set[tuple[tuple[Key, ...], str]] = set()
    for asked in listed:
        for key in asked.keys:
            for name in () if isinstance(key, FoundKey) else key.columns:
                facts.schema[name]
        title = asked.question.title
        if (asked.keys, title) in seen:
            raise ParameterError(
                f"questions of one table must have different names, got {title!r} twice; give one of them name=..."
            )
        seen.add((asked.keys, title))
    return tuple(listed)


def _keys_of(entry: TableQuestion | Grouping) -> tuple[Key, ...]:
    keys = entry.keys if isinstance(entry, Grouping) else ()
    if any(isinstance(key, UnknownKeys) for key in keys):
        raise ParameterError(
            "questions by UnknownKeys have no plan before their keys are found; use answer(...), or declare keys"
        )
    return keys  # type: ignore[return-value]  # none is unknown
