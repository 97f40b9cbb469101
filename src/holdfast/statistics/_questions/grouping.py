"""`by`: the same questions for every group of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast._arguments import checked
from holdfast.data._group_sums import CellKey, Key
from holdfast.errors import ParameterError, require
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._table_facts import TableFacts


@dataclass(frozen=True)
class Grouping:
    """Questions, asked of the rows of each combination of some keys."""

    keys: tuple[Key, ...]
    questions: tuple[TableQuestion, ...]


@checked
def by(*keys_and_questions: str | Key | TableQuestion) -> Grouping:
    """Ask questions of every group: first the columns whose cells are the groups, then the questions.

    Every declared group is answered, whether rows fall into it or not; no row tells which groups there are.

    Parameters
    ----------
    *keys_and_questions : str, Key or TableQuestion
        One or more columns of the schema, then one or more questions.

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
    if not keys or not questions or any(isinstance(key, TableQuestion) for key in keys):
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
        Asked(question, (*(entry.keys if isinstance(entry, Grouping) else ()), *question.own_keys(facts)))
        for entry in questions
        for question in (entry.questions if isinstance(entry, Grouping) else (entry,))
    ]
    seen: set[tuple[tuple[Key, ...], str]] = set()
    for asked in listed:
        for key in asked.keys:
            for name in key.columns:
                facts.schema[name]
        title = asked.question.title
        if (asked.keys, title) in seen:
            raise ParameterError(
                f"questions of one table must have different names, got {title!r} twice; give one of them name=..."
            )
        seen.add((asked.keys, title))
    return tuple(listed)
