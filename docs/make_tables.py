"""Write the tables of the docs that are asked of the code: `python docs/make_tables.py`."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.learn.methods import METHODS
from holdfast.privacy import MECHANISMS, Account, ApproxDP, GaussianDP, Mechanism, PrivacyCurve, PureDP

HERE = Path(__file__).resolve().parent
_BENCHMARKS = """\
# Benchmarks

Timings live in `benchmarks/`, apart from the tests; each script run with `--save` writes its file of results. Ratios
within one table come from one run and compare fairly; absolute times belong to the machine named there.
"""
# A limit so wide that what is refused is refused for its kind, not for its size.
_LIMITS: dict[str, PrivacyCurve] = {
    "pure": PureDP(1e6),
    "basic": ApproxDP(1e6, 0.5),
    "zcdp": ApproxDP(1e4, 1e-6),
    "renyi": ApproxDP(1e4, 1e-6),
    "gdp": GaussianDP(1e6),
}


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _head(*cells: str) -> str:
    return _row(*cells) + _row(*("---" for _ in cells))


def mechanisms() -> str:
    """Every entry of MECHANISMS: what it does, what an example proves, for which neighbours, and why."""
    text = ""
    for kind in MECHANISMS:
        does = re.sub(r"\s+", " ", (kind.__doc__ or "").split("\n\n")[0]).rstrip(".")
        does = re.sub(r"([*_])", r"\\\1", does) if "`" not in does else does
        example = kind.examples()[0]
        hidden = ("mechanism", "arithmetic", "base", "monotone")
        parameters = {name: value for name, value in example.to_json().items() if name not in hidden}
        shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
        only = ", ".join(f"`{a}`" for a in sorted(a.value for a in kind.admissible))
        where = "" if len(kind.admissible) == 3 else f" Adjacency {only} only."
        text += f"- **{kind.__name__}**: {does}.\n  *Proves*, for example, `{example.curve!r}` for `{shown}`.{where}\n"
        text += f"  *By*: {kind.theorem}.\n"
    return text


def _accepts(mechanism: Mechanism, currency: str) -> str:
    adjacency = min(mechanism.admissible, key=lambda a: a.value)
    account = Account(_LIMITS[currency], adjacency=adjacency, currency=currency)
    try:
        cost = account.currency.cost(mechanism)
    except HoldfastError:
        if currency != "basic":
            return "no"
        account.permit(mechanism, times=1, delta=1e-6)
        return "permit, at a stated δ"
    return " + ".join(f"{float(amount):.3g}" for amount in cost.amounts if amount) or "0"


def currencies() -> str:
    """What one use of each mechanism's first example costs, in each currency."""
    text = _head("one use of", *(f"`{name}`" for name in _LIMITS))
    for kind in MECHANISMS:
        example = kind.examples()[0]
        text += _row(f"`{kind.__name__}`", *(_accepts(example, currency) for currency in _LIMITS))
    return text


def methods() -> str:
    """Every entry of METHODS: where it is from, what its proof needs, and for which neighbours it holds."""
    text = _head("method", "paper", "needs", "pure ε", "account with δ", "adjacency")
    for method in METHODS:
        needs = ", ".join(need.replace("_", r"\_") for need in method.needs) or "nothing"
        neighbours = ", ".join(f"`{name}`" for name in method.adjacencies)
        pure = "yes" if method.pure else "no"
        text += _row(f"`{method.name}`", method.paper, needs, pure, f"`{method.currency}`", neighbours)
    return text


def benchmarks() -> str:
    """The page that shows every file of results."""
    text = _BENCHMARKS
    for path in sorted((HERE.parent / "benchmarks" / "results").glob("*.md")):
        text += f"\n```{{include}} ../benchmarks/results/{path.name}\n:heading-offset: 1\n```\n"
    return text


TABLES = {
    "_generated/mechanisms.md": mechanisms,
    "_generated/currencies.md": currencies,
    "_generated/methods.md": methods,
    "benchmarks.md": benchmarks,
}

if __name__ == "__main__":
    (HERE / "_generated").mkdir(exist_ok=True)
    for name, table in TABLES.items():
        (HERE / name).write_text(table(), encoding="utf-8")
