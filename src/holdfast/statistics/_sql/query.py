"""StatisticsQuery: a query of SQL as questions for `answer`, and as a view on what was answered.

One `select` from one table: aggregates over declared columns, `where` with comparisons that cannot fail, `group by`
declared columns (also `rollup`, `cube` and `grouping sets`), `having`, `order by` and `limit` on noisy values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast._arguments import checked
from holdfast.data._group_sums import CellKey
from holdfast.data._schema import Schema
from holdfast.errors import ParameterError
from holdfast.statistics._questions.grouping import Grouping
from holdfast.statistics._questions.question import TableQuestion
from holdfast.statistics._sql.aggregates import is_aggregate, question_of, require_aggregates
from holdfast.statistics._sql.conditions import where_condition
from holdfast.statistics._sql.names import declared_column, number_literal
from holdfast.statistics._sql.query_error import query_error
from holdfast.statistics._sql.view import AnswerView

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from holdfast.statistics._table_of_answers import StatisticsTable

_LONGEST_QUERY = 20_000
_REFUSED_CLAUSES = {
    "joins": (
        "rows of other tables decide which rows count",
        "join the tables before, and declare the result",
    ),
    "with_": ("one select is answered", "write the inner query's condition as a where"),
    "distinct": ("groups are distinct already", "leave distinct out"),
    "windows": ("a window looks at other rows", "group by declared columns"),
    "qualify": ("a window looks at other rows", "write having, which looks at noisy values"),
    "offset": ("an answer is shown from its first row", "write order by and limit"),
    "laterals": ("one table is asked", "leave it out"),
    "sample": ("a sample hides less than its noise costs", "ask all rows"),
    "into": ("nothing is written into the database", "write a file with --output"),
    "pivots": ("one row a group is answered", "group by both columns"),
    "locks": ("nothing is locked", "leave it out"),
}


@checked
@dataclass(frozen=True)
class StatisticsQuery:
    """A query of SQL, as the questions that it asks and the part of the answer that it shows.

    Parameters
    ----------
    text : str
        One select, as in "select ward, count(*), avg(cost) from t where age >= 18 group by ward".
    schema : Schema
        What is public about the table; the name of the table is not looked at.

    Examples
    --------
    >>> from holdfast.data import Categorical, Numeric, Schema, open_table
    >>> from holdfast.statistics import StatisticsQuery, answer
    >>> schema = Schema([Categorical("ward", ["a", "b"]), Numeric("cost", 0, 100)], adjacency="add_remove")
    >>> query = StatisticsQuery("select ward, count(*) as n from t group by ward order by n desc limit 1", schema)
    >>> rows = {"ward": ["a"] * 900 + ["b"] * 300, "cost": [20.0] * 1200}
    >>> answers = answer(open_table(rows, schema), query.questions, epsilon=1.0)
    >>> query.shown(answers)["ward"].to_pylist()
    ['a']
    """

    text: str
    schema: Schema

    def __post_init__(self) -> None:
        select = parse_select(self.text)
        _refuse_clauses(select)
        groupings, questions, view = _read_select(select, self.schema)
        object.__setattr__(self, "_questions", questions_by(groupings, questions))
        object.__setattr__(self, "_view", view)
        keys = {name: np.array([""], dtype=object) for names in groupings for name in names}
        numbers = {question.title: np.zeros(1) for question in questions}
        view.check(keys | numbers)

    @property
    def questions(self) -> list[TableQuestion | Grouping]:
        """What `answer` is asked."""
        questions: list[TableQuestion | Grouping] = list(vars(self)["_questions"])
        return questions

    def shown(self, answers: StatisticsTable) -> pa.Table:
        """The groups and columns that the query asks for, in its order.

        Parameters
        ----------
        answers : StatisticsTable
            What `answer` gave for these questions.

        Returns
        -------
        pyarrow.Table
            A row a group.
        """
        view: AnswerView = vars(self)["_view"]
        return view.shown(answers.to_arrow())


def parse_select(text: str) -> exp.Select:
    """The one select of a query; refused where there is something else, or more."""
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    if len(text) > _LONGEST_QUERY:
        raise ParameterError(f"query must have at most {_LONGEST_QUERY:,} letters, got {len(text):,}")
    try:
        statements = [statement for statement in parse(text, read="duckdb") if statement is not None]
    except (SqlglotError, RecursionError) as error:
        place = str(error).partition("\n")[0] if isinstance(error, SqlglotError) else "nested too deeply"
        raise ParameterError(
            f"query must be one select of SQL, got a text that cannot be read ({place}); "
            "write select ward, count(*) from t group by ward"
        ) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        kinds = ", ".join(statement.key for statement in statements) or "nothing"
        raise ParameterError(
            f"query must be one select, got {kinds}; ask several queries in one command instead"
        )
    return statements[0]


def _refuse_clauses(select: exp.Select) -> None:
    from sqlglot import exp

    for clause, (why, instead) in _REFUSED_CLAUSES.items():
        present = select.args.get(clause) or select.args.get(clause.rstrip("_"))
        if present:
            node = present[0] if isinstance(present, list) else present
            raise query_error(node if isinstance(node, exp.Expression) else clause.rstrip("_"), why, instead)
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        raise ParameterError("query must name the table: from t; its name is not looked at")
    table = source.this
    named = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not named or table.args.get("joins"):
        raise query_error(table, "one table is asked", "write from t, the table of the command")
    for node, why in ((exp.Subquery, "one select is answered"), (exp.Window, "a window looks at other rows")):
        inner = select.find(node)
        if inner is not None:
            raise query_error(inner, why, "ask it as a query of its own")


def _read_select(
    select: exp.Select, schema: Schema
) -> tuple[list[tuple[str, ...]], list[TableQuestion], AnswerView]:
    """Lists of keys, questions, and the view."""
    from sqlglot import exp

    groupings = _groupings(select.args.get("group"), schema)
    keys = tuple(dict.fromkeys(name for names in groupings for name in names))
    where = select.args.get("where")
    condition = None if where is None else where_condition(where.this, schema)
    questions: list[TableQuestion] = []
    names: dict[str, str] = {name.lower(): name for name in keys} | {
        f'"{name}"'.lower(): name for name in keys
    }
    columns: list[str] = []

    def ask(node: exp.Expression, name: str | None) -> str:
        known = names.get(_text(node))
        if known is not None and name is None:
            return known
        question = question_of(node, schema, where=condition, name=name)
        if question.title not in {earlier.title for earlier in questions}:
            questions.append(question)
        elif question not in questions:
            raise ParameterError(
                f"query must give its statistics different names, got {question.title!r} twice; write ... as name"
            )
        names[_text(node)] = question.title
        names[question.title.lower()] = question.title
        return question.title

    for entry in select.expressions:
        name = entry.alias if isinstance(entry, exp.Alias) else None
        node = entry.this if isinstance(entry, exp.Alias) else entry
        if isinstance(node, exp.Star):
            raise query_error(node, "rows are never shown", "ask for statistics: count(*), avg(x)")
        if isinstance(node, exp.Column):
            key = declared_column(node, schema).name
            if key not in keys:
                raise query_error(node, "rows are never shown", f"add group by {key}")
            columns.append(key)
        elif is_aggregate(node):
            columns.append(ask(node, name))
        else:
            raise query_error(
                node, "a column is a key or a statistic", "ask for them and compute with the answer"
            )
    require_aggregates(len(questions), select)
    having = select.args.get("having")
    if having is not None:
        for node in [
            node for node in having.find_all(exp.AggFunc) if not isinstance(node.parent, exp.Filter)
        ]:
            ask(node, None)
    view = AnswerView(
        columns=tuple(columns),
        having=None if having is None else having.this,
        order=_order_of(select, columns, names, ask),
        limit=_limit_of(select),
        names=names,
    )
    return groupings, questions, view


def _text(node: exp.Expression) -> str:
    return node.sql(dialect="duckdb").lower()


def _order_of(
    select: exp.Select, columns: Sequence[str], names: dict[str, str], ask: Any
) -> tuple[tuple[str, bool], ...]:
    """Columns to order by: a name, the place of a column, or a statistic."""
    order = select.args.get("order")
    listed = []
    for entry in [] if order is None else order.expressions:
        node, place = entry.this, number_literal(entry.this)
        if place is not None:
            if not (place.is_integer() and 1 <= place <= len(columns)):
                raise query_error(node, f"the query shows {len(columns)} columns", "name one of them")
            name = columns[int(place) - 1]
        else:
            known = names.get(_text(node))
            if known is None and not is_aggregate(node):
                raise query_error(
                    node, "an order is that of a key or a statistic", "name a column of the answer"
                )
            name = known or ask(node, None)
        listed.append((name, bool(entry.args.get("desc"))))
    return tuple(listed)


def _limit_of(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    number = None if limit.expression is None else number_literal(limit.expression)
    if number is None or number < 0 or not number.is_integer():
        raise query_error(limit, "a limit is a whole number", "write limit 10")
    return int(number)


def _groupings(group: exp.Group | None, schema: Schema) -> list[tuple[str, ...]]:
    """The lists of keys of a `group by`: one, or those of `rollup`, `cube` and `grouping sets`."""
    from sqlglot import exp

    if group is None:
        return [()]
    sets: list[tuple[str, ...]] = [()]
    if group.args.get("all"):
        raise query_error("group by all", "keys are declared", "name the columns")
    entries = [
        *group.expressions,
        *(entry for kind in ("rollup", "cube", "grouping_sets") for entry in group.args.get(kind) or ()),
    ]
    for entry in entries:
        names = [_key_names(node, schema) for node in entry.expressions] if entry.expressions else []
        if isinstance(entry, exp.Rollup) and not entry.expressions:  # with rollup: of all keys before it
            flat = sets[0]
            sets = [flat[:length] for length in range(len(flat), -1, -1)]
            continue
        match entry:
            case exp.Rollup():
                wanted = [sum(names[:length], ()) for length in range(len(names), -1, -1)]
            case exp.Cube():
                wanted = [
                    sum(chosen, ())
                    for size in range(len(names), -1, -1)
                    for chosen in combinations(names, size)
                ]
            case exp.GroupingSets():
                wanted = names
            case _:
                wanted = [_key_names(entry, schema)]
        sets = [(*before, *after) for before in sets for after in wanted]
    for names_of_set in sets:
        if len(set(names_of_set)) < len(names_of_set):
            raise query_error(group, "a key stands twice in one grouping", "name each key once")
    return list(dict.fromkeys(sets))


def _key_names(node: exp.Expression, schema: Schema) -> tuple[str, ...]:
    from sqlglot import exp

    if isinstance(node, exp.Tuple):
        return sum((_key_names(part, schema) for part in node.expressions), ())
    if isinstance(node, exp.Paren):
        return _key_names(node.this, schema)
    return (declared_column(node, schema).name,)


def questions_by(
    groupings: Sequence[tuple[str, ...]], questions: Sequence[TableQuestion]
) -> list[TableQuestion | Grouping]:
    """The same questions for each list of keys."""
    listed: list[TableQuestion | Grouping] = []
    for names in groupings:
        if names:
            listed.append(Grouping(tuple(CellKey(name) for name in names), tuple(questions)))
        else:
            listed.extend(questions)
    return listed
