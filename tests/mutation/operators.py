"""What can be wrong with an expression or a statement: every operator, by the node that it changes.

An operator gives the text that stands in place of the node. What is left alone: annotations, texts, messages of
errors (`raise`, and of `require` all but its condition), `assert`, which states what we believe and decides nothing,
and labels.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Operator and the text of the node that it makes.
Change = tuple[str, str]

PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("amin", "amax"),
    ("argmin", "argmax"),
    ("floor", "ceil"),
    ("any", "all"),
    ("log", "log1p"),
    ("exp", "expm1"),
    ("round_up", "round_down"),
    ("epsilon", "delta"),
    ("l1_sensitivity", "l2_sensitivity"),
    ("add_remove", "replace"),
    ("zero_out", "replace"),
    ("start", "stop"),
    ("first", "last"),
    ("rows", "units"),
)
#: Ends of names that have an opposite: `root_above`, `lower`, `round_down`.
OPPOSITES = (("above", "below"), ("up", "down"), ("upper", "lower"), ("high", "low"), ("most", "least"))
#: Functions without which a value of the same kind is left: what clips, rounds, sorts, or takes a root.
WRAPPERS = re.compile(
    r"^(clip.*|.*_clipped|round.*|.*_above|.*_below|abs|fabs|sqrt|square|exp|expm1|log|log1p|sorted|unique|ceil|floor"
    r"|as_written|isqrt|nextafter|copy|bounded.*|cumsum|sum|norm|reversed|rint|trunc|frozenset|set|ldexp)$"
)
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
OTHER = {"+": "-", "-": "+", "*": "/", "/": "*"}
BOUNDS = {ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Lt: ast.LtE, ast.LtE: ast.Lt}
TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}
DENIED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
#: Functions that do not tell their arguments apart.
EITHER_WAY = frozenset(
    {
        "min",
        "max",
        "minimum",
        "maximum",
        "fmin",
        "fmax",
        "gcd",
        "lcm",
        "hypot",
        "logaddexp",
        "isclose",
        "array_equal",
    }
    | {"add", "multiply", "logical_and", "logical_or", "allclose", "union1d", "intersect1d"}
)
#: Options that only name things.
LABELS = frozenset(
    {"label", "name", "key", "what", "hint", "stacklevel", "strict", "dtype", "text", "method"}
)
QUIET_CALLS = frozenset({"warn", "update_bar", "debug", "info"})


@dataclass(frozen=True)
class Site:
    """A node of a function that can be changed, and what an operator knows of its surroundings."""

    node: ast.AST
    words: frozenset[str]
    """Every name in the file: a changed name must be one of them."""
    siblings: dict[str, tuple[str, ...]]
    """For each parameter of the function, others with the same annotation."""

    def changes(self) -> Iterator[Change]:
        """Every way to change it."""
        node = self.node
        if isinstance(node, ast.BinOp):
            yield from _of_arithmetic(node)
        elif isinstance(node, ast.Compare):
            yield from _of_comparison(node)
        elif isinstance(node, ast.BoolOp):
            yield from _of_logic(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
            yield "drop a sign or a not", _text(node.operand)
        elif isinstance(node, ast.IfExp):
            yield "negate a condition", f"{_in(node.body)} if not {_in(node.test)} else {_in(node.orelse)}"
            yield "always one branch", _text(node.body)
            yield "always one branch", _text(node.orelse)
        elif isinstance(node, ast.Constant):
            yield from _of_constant(node)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield from self._of_name(node.attr, lambda other: f"{_in(node.value)}.{other}")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from self._of_name(node.id, str)
            for other in self.siblings.get(node.id, ())[:1]:
                yield "another argument of one type", other
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            yield from _of_slice(node, node.slice)
        elif isinstance(node, ast.stmt):
            yield from _of_statement(node)

    def _of_name(self, name: str, text: Callable[[str], str]) -> Iterator[Change]:
        for other in opposites(name):
            if other in self.words:
                yield "the opposite name", text(other)

    def _of_call(self, node: ast.Call) -> Iterator[Change]:
        name = called(node)
        positional = [each for each in node.args if not isinstance(each, ast.Starred)]
        plain = len(positional) == len(node.args)
        method = isinstance(node.func, ast.Attribute) and not _is_module(node.func.value)
        if name in ("sum", "fsum") and (positional or method):
            yield "swap max and sum", _text(_renamed(node, "max"))
        if name in ("max", "amax") and (len(positional) == 1 or method):
            yield "swap max and sum", _text(_renamed(node, "sum"))
        for other in opposites(name):
            if other in self.words:
                extreme = name in ("min", "max", "minimum", "maximum")
                yield "swap max and min" if extreme else "the opposite name", _text(_renamed(node, other))
        if name == "len" or (name == "range" and len(positional) == 1):
            inner = _text(positional[0])
            for sign in "+-":
                changed = (
                    f"range({_in(positional[0])} {sign} 1)" if name == "range" else f"len({inner}) {sign} 1"
                )
                yield "off by one", changed
        if WRAPPERS.match(name):
            if method and isinstance(node.func, ast.Attribute) and name in ("clip", "copy", "round"):
                yield "skip a clip or a rounding", _text(node.func.value)
            elif positional and not method:
                yield "skip a clip or a rounding", _text(positional[0])
        if name in ("min", "max", "minimum", "maximum") and plain and len(positional) > 1:
            for each in positional:
                yield "one side of min or max", _text(each)
        if name in ("release", "draw", "sample", "_draw") and len(positional) >= 2:
            exact = positional[0] if name in ("draw", "sample") else positional[-1]
            yield "the exact value for the noisy one", _text(exact)
        if plain and name not in EITHER_WAY:
            for place in range(len(positional) - 1):
                swapped = [*positional]
                swapped[place : place + 2] = swapped[place + 1], swapped[place]
                if _text(swapped[place]) != _text(swapped[place + 1]) and not _is_text(
                    *swapped[place : place + 2]
                ):
                    yield "swap arguments", _text(ast.Call(node.func, swapped, node.keywords))
        yield from _of_options(node)


def _of_options(node: ast.Call) -> Iterator[Change]:
    options = node.keywords
    for place, option in enumerate(options):
        if option.arg is None or option.arg in LABELS or _is_text(option.value):
            continue
        rest = [*options[:place], *options[place + 1 :]]
        yield "drop an option", _text(ast.Call(node.func, node.args, rest))
        following = options[place + 1] if place + 1 < len(options) else None
        if following is not None and following.arg not in (None, *LABELS) and not _is_text(following.value):
            swapped = [*options]
            swapped[place] = ast.keyword(option.arg, following.value)
            swapped[place + 1] = ast.keyword(following.arg, option.value)
            if _text(option.value) != _text(following.value):
                yield "swap arguments", _text(ast.Call(node.func, node.args, swapped))


def _of_arithmetic(node: ast.BinOp) -> Iterator[Change]:
    left, right = node.left, node.right
    if _is_text(left, right):
        return
    sign = ARITHMETIC.get(type(node.op))
    if sign in ("+", "-"):
        yield "swap + and -", f"{_in(left)} {OTHER[sign]} {_in(right)}"
        yield "drop a term", _text(left)
        if sign == "+":
            yield "drop a term", _text(right)
    elif sign in ("*", "/"):
        yield "drop a factor", _text(left)
        if sign == "*":
            yield "drop a factor", _text(right)
        yield "swap * and /", f"{_in(left)} {OTHER[sign]} {_in(right)}"
    elif isinstance(node.op, ast.Pow):
        yield "drop a power", _text(left)
    elif isinstance(node.op, ast.FloorDiv):
        yield "round the other way", f"-(-{_in(left)} // {_in(right)})"
    elif isinstance(node.op, ast.Mod):
        yield "drop a factor", _text(left)
    elif isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        other = "|" if isinstance(node.op, ast.BitAnd) else "&"
        yield "swap and and or", f"{_in(left)} {other} {_in(right)}"
        yield "drop a term", _text(left)
        yield "drop a term", _text(right)
    elif isinstance(node.op, ast.MatMult):
        yield "swap arguments", f"{_in(right)} @ {_in(left)}"


def _of_comparison(node: ast.Compare) -> Iterator[Change]:
    for place, sign in enumerate(node.ops):
        for operator, others in (
            (">= for >", BOUNDS),
            ("turn a comparison", TURNED),
            ("negate a condition", DENIED),
        ):
            if type(sign) in others:
                signs = [*node.ops]
                signs[place] = others[type(sign)]()
                yield operator, _text(ast.Compare(node.left, signs, node.comparators))


def _of_logic(node: ast.BoolOp) -> Iterator[Change]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "swap and and or", _text(ast.BoolOp(other, node.values))
    for place in range(len(node.values)):
        rest = [*node.values[:place], *node.values[place + 1 :]]
        yield "drop a condition", _text(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _of_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "replace a constant", str(not value)
    elif isinstance(value, int):
        yield "off by one", str(value + 1)
        if value > 0:
            yield "off by one", str(value - 1)
        if value > 2:
            yield "replace a constant", str(value // 2)
    elif isinstance(value, float):
        yield "replace a constant", repr(value * 2 if value else 1.0)
        if value:
            yield "replace a constant", repr(value / 2)
        if value == 1.0:
            yield "replace a constant", "0.0"


def _of_slice(node: ast.Subscript, part: ast.Slice) -> Iterator[Change]:
    if part.lower is not None:
        yield (
            "drop a bound",
            _text(ast.Subscript(node.value, ast.Slice(None, part.upper, part.step), node.ctx)),
        )
        more = _text(ast.Subscript(node.value, ast.Slice(_more(part.lower), part.upper, part.step), node.ctx))
        yield "off by one", more
    if part.upper is not None:
        yield (
            "drop a bound",
            _text(ast.Subscript(node.value, ast.Slice(part.lower, None, part.step), node.ctx)),
        )
        more = _text(ast.Subscript(node.value, ast.Slice(part.lower, _more(part.upper), part.step), node.ctx))
        yield "off by one", more


def _of_statement(node: ast.stmt) -> Iterator[Change]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        if called(node.value) not in QUIET_CALLS:
            yield "drop a statement", "pass"
    elif isinstance(node, ast.AugAssign):
        yield "drop a statement", "pass"
        sign = ARITHMETIC.get(type(node.op))
        if sign is not None and not _is_text(node.value):
            yield "swap + and -", f"{_text(node.target)} {OTHER[sign]}= {_text(node.value)}"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        (target,) = node.targets
        names = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
        again = isinstance(target, ast.Name) and target.id in names
        if again or isinstance(target, (ast.Attribute, ast.Subscript)):
            yield "drop a statement", "pass"
    elif isinstance(node, (ast.Break, ast.Continue)):
        yield "drop a statement", "pass"
    elif isinstance(node, ast.Raise):
        yield "drop a check", "pass"


def conditions(node: ast.AST) -> Iterator[ast.expr]:
    """The conditions of a statement or a comprehension, which are negated, or always or never hold."""
    if isinstance(node, (ast.If, ast.While)):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs


def of_condition(test: ast.expr, *, loop: bool) -> Iterator[Change]:
    """What a condition may be in place of itself; a loop that never ends is no fault worth a run."""
    if _text(test) != "TYPE_CHECKING":
        yield "negate a condition", f"not {_in(test)}"
        yield "always one branch", "False"
        if not loop:
            yield "always one branch", "True"


def opposites(name: str) -> Iterator[str]:
    """Names of the opposite of what a name says.

    >>> list(opposites("round_up")), list(opposites("epsilon_lower")), list(opposites("rate"))
    (['round_down'], ['epsilon_upper'], [])
    """
    seen = set()
    for one_way in (*PAIRS, *OPPOSITES):
        for word, other in (one_way, one_way[::-1]):
            if name == word or (one_way in OPPOSITES and name.endswith("_" + word)):
                opposite = name[: len(name) - len(word)] + other
                if opposite not in seen:
                    seen.add(opposite)
                    yield opposite


def called(node: ast.Call) -> str:
    """The last part of the name of what is called; "" where it has none."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _renamed(node: ast.Call, name: str) -> ast.Call:
    if isinstance(node.func, ast.Attribute) and (
        _text(node.func.value) != "math" or name not in ("max", "sum")
    ):
        return ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)
    return ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)


def _is_module(node: ast.expr) -> bool:
    return _text(node) in ("np", "numpy", "math", "scipy", "special", "np.linalg")


def _is_text(*nodes: ast.expr) -> bool:
    return any(
        isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for node in nodes
    )


def _more(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Add(), ast.Constant(1))


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _in(node: ast.expr) -> str:
    """The text of a node where it stands inside another expression."""
    simple = isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))
    return _text(node) if simple else f"({_text(node)})"
