"""Write the tables of the docs that are asked of the code: `python docs/make_tables.py`."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from holdfast.attack import ATTACKS
from holdfast.dossier._record import Record
from holdfast.dossier._section import Section, json_key
from holdfast.errors import HoldfastError
from holdfast.learn._catalogue import LEARNERS
from holdfast.learn._estimators.recommend import panel
from holdfast.learn.methods.method import Learner
from holdfast.privacy import (
    MECHANISMS,
    Account,
    ApproxDP,
    Assumption,
    GaussianDP,
    Mechanism,
    PrivacyCurve,
    PureDP,
)
from holdfast.synth._catalogue import SYNTHESISERS
from holdfast.synth.methods.method import SynthesisMethod

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "studies" / "benchmarks" / "results"
_BENCHMARKS = """\
# Benchmarks

Times and errors against peers and against no privacy, to decide by and to check: every table is written by the
script in `studies/benchmarks/` that it names, run with `--save`. Ratios within one table come from one run and compare
fairly; absolute times belong to the machine named there.
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
    """Every entry of LEARNERS: what it is, where it is from, what its proof needs, for which neighbours it holds."""
    text = _head("method", "what it is", "paper", "needs", "pure ε", "account with δ", "adjacency")
    for method in LEARNERS:
        needs = ", ".join(need.replace("_", r"\_") for need in method.needs) or "nothing"
        text += _method_row(method, needs)
    return text


def synthesisers() -> str:
    """Every entry of SYNTHESISERS: what it is, where it is from, and for which neighbours its proof holds."""
    text = _head("method", "what it is", "paper", "pure ε", "account with δ", "adjacency")
    for method in SYNTHESISERS:
        text += _method_row(method)
    return text


def _method_row(method: Learner | SynthesisMethod, *further: str) -> str:
    """A method in the words of its own file, whose first line says what it is."""
    first = (import_module(method.run.__module__).__doc__ or "").split("\n")[0].rstrip(".")
    what = re.sub(r"([*_|])", r"\\\1", first) if "`" not in first else first
    neighbours = ", ".join(f"`{name}`" for name in method.adjacencies)
    pure = "yes" if method.pure else "no"
    return _row(f"`{method.name}`", what, method.paper, *further, pure, f"`{method.currency}`", neighbours)


KINDS_OF_ATTACKS = {
    "model": "On a model: who was in the data? Scores of records, by",
    "rows": "On released rows: who was in the data? Scores of records, by",
    "attribute": "On an attribute of people, by a model or by rows: scores of candidates, by",
    "disclosure": "Of disclosure by released rows: what comes true more often for members, by",
}


def attacks() -> str:
    """Every entry of ATTACKS, a table for each kind: by what it guesses, what it knows, and where it is from."""
    text = ""
    for kind, head in KINDS_OF_ATTACKS.items():
        text += ("\n" if text else "") + _head("name", head, "knows", "made for", "paper")
        for attack in ATTACKS:
            if attack.kind == kind:
                does = re.sub(r"\s+", " ", (attack.guess.__doc__ or "").split("\n\n")[0]).rstrip(".")
                tasks = "any model" if len(attack.tasks) == 2 else attack.tasks[0]
                text += _row(
                    f"`{attack.name}`",
                    (does[:1].lower() + does[1:]).replace("|", "\\|"),
                    ", ".join(attack.knows),
                    "rows" if "rows" in attack.knows else tasks,
                    f"[{attack.paper}](papers.md)",
                )
    return text


def benchmarks() -> str:
    """The page that shows every file of results."""
    text = _BENCHMARKS
    for path in sorted((HERE.parent / "studies" / "benchmarks" / "results").glob("*.md")):
        text += f"\n```{{include}} ../studies/benchmarks/results/{path.name}\n:heading-offset: 1\n```\n"
    return text


def _result(file: str, section: str, row: str) -> list[str]:
    """The cells of one row of a file of results."""
    text = (HERE.parent / "studies" / "benchmarks" / "results" / f"{file}.md").read_text(encoding="utf-8")
    part = text[text.index(section) :]
    line = next(line for line in part.splitlines() if line.startswith(f"| {row}"))
    first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
    return [first, *(re.sub(r" [±(].*", "", cell) for cell in cells)]


def peers() -> str:
    """The numbers of the README, from files of results: holdfast's beside those of a well-known peer."""
    linear, opacus = _panel("auto"), _panel("opacus 4", "opacus 16")
    shapes, machines = _additive("holdfast additive"), _additive("DP-EBM, defaults", "DP-EBM, 100 rounds")
    exact = next(one.exact for one in panel() if one.table == "Adult")
    (trees,) = _additive("boosted trees, not private", epsilons=(None,))
    auto = _result("synth", "### epsilon 1\n", "**auto**")
    aim = _result("synth", "### epsilon 1\n", "AIM (mbi, defaults")
    (seconds,) = re.findall(r"([\d,]+) CPU s", aim[0])
    steps = _result("accounting", "", "B DP-SGD")
    found, art = (_result("attack", "", row) for row in ("lira |", "ART black-box, gb"))
    text = _head("", "holdfast", "peer", "without privacy")
    text += _row(
        "logistic regression, Adult, ε = 0.1, 1, 8: accuracy",
        ", ".join(linear),
        ", ".join(opacus) + " (Opacus, the better of two settings)",
        f"{exact:.4f}",
    )
    text += _row(
        "additive model, Adult, ε = 0.1, 1, 4: accuracy",
        ", ".join(shapes),
        ", ".join(machines) + " (DP-EBM, the better of two settings)",
        f"{trees} (boosted trees)",
    )
    text += _row(
        "synthetic Adult at ε = 1: average distance of 64 three-way tables; CPU time",
        f"{auto[2]}; {float(auto[6]):.0f} s",
        f"{aim[2]}; {seconds} s (AIM of mbi)",
        "",
    )
    text += _row(
        "and its largest error: as certified, and in truth",
        f"{auto[5]}, {auto[4]}",
        f"no certificate, {aim[4]}",
        "",
    )
    text += _row(
        "ε of 3,000 steps of DP-SGD: relative error; time",
        f"{float(steps[3]):.0e}, on the safe side; {float(steps[4]):.0f} ms",
        f"{float(steps[6]):.0e}; {steps[7]} ms (dp-accounting)",
        "",
    )
    text += _row(
        "members of an overfitted forest found, at 1 % false alarms",
        f"{100 * float(found[2]):.0f} %",
        f"{100 * float(art[2]):.0f} % (ART)",
        "",
    )
    return f"{text}\n{losses()}"


def losses() -> str:
    """Where peers are better, over the learning panel: all its tables and budgets, means over splits that both have."""
    kept = json.loads((RESULTS / "learn_panel.json").read_text(encoding="utf-8"))
    runs: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for key, cell in kept.items():
        table, epsilon, kind, method, split = key.split("|")
        if "score" in cell:
            runs.setdefault((table, epsilon, kind), {}).setdefault(method, {})[split] = cell["score"]
    words = []
    for kind, peer, promise in (("delta", "Opacus", "(ε, δ)"), ("pure", "diffprivlib", "pure ε")):
        behind: list[tuple[float, str]] = []
        cells = 0
        for (table, epsilon, asked), found in runs.items():
            ours = found.get("auto", {})
            ahead = [
                np.mean([scores[split] - ours[split] for split in scores if split in ours])
                for method, scores in found.items()
                if method.startswith(peer.lower()) and set(scores) & set(ours)
            ]
            if asked != kind or not ahead:
                continue
            cells += 1
            gap = float(max(ahead))
            behind += [(gap, f"{table}, ε = {epsilon}")] if gap > 0 else []
        largest, where = max(behind, default=(0.0, "nowhere"))
        words.append(
            f"under {promise} the better of {peer}'s settings is ahead in {len(behind)} of {cells}, "
            f"at most by {largest:.3f} ({where})"
        )
    text = (
        "**What we lose**, in accuracy or R², tables times budgets of the learning panel: "
        + "; ".join(words)
        + "."
    )
    return textwrap.fill(text, 125, break_long_words=False, break_on_hyphens=False) + "\n"


def _panel(*methods: str, epsilons: tuple[float, ...] = (0.1, 1.0, 8.0)) -> list[str]:
    """Mean accuracy on Adult in the first three splits of the learning panel, of the better method at each epsilon."""
    kept = json.loads((RESULTS / "learn_panel.json").read_text(encoding="utf-8"))

    def mean(method: str, epsilon: float) -> float:
        splits = [f"Adult|{epsilon:g}|delta|{method}|{split}" for split in range(3)]
        return float(np.mean([kept[split]["score"] for split in splits]))

    return [f"{max(mean(method, epsilon) for method in methods):.4f}" for epsilon in epsilons]


def _additive(*methods: str, epsilons: tuple[float | None, ...] = (0.1, 1.0, 4.0)) -> list[str]:
    """The same for the additive models' benchmark."""
    kept = json.loads((RESULTS / "additive.json").read_text(encoding="utf-8"))

    def mean(method: str, epsilon: float | None) -> float:
        runs = [
            run["scores"][0]
            for key, found in kept.items()
            if key.startswith(f"Adult|{method}") and (epsilon is None or key.endswith(f"|{epsilon:.1f}"))
            for run in found
        ]
        return float(np.mean(runs))

    return [f"{max(mean(method, epsilon) for method in methods):.4f}" for epsilon in epsilons]


def readme() -> str:
    """The README with its numbers brought up to date."""
    text = (HERE.parent / "README.md").read_text(encoding="utf-8")
    before, begin, rest = text.partition("<!-- peers: written by docs/make_tables.py -->\n")
    _, end, after = rest.partition("<!-- end -->")
    return before + begin + peers() + end + after


def faults() -> str:
    """Every fault that is planted in shipped code, the function that it is in, and the trial that must see it."""
    from holdfast.refute._faults import FAULTS

    text = _head("broken version", "in", "what is wrong", "falls to")
    for fault in FAULTS:
        module, _, function = fault.target.partition(":")
        text += _row(
            f"`{fault.name}`",
            f"`{module.split('.')[-1]}`: `{function}`",
            fault.why.replace("|", "\\|"),
            fault.test,
        )
    return text


def forgeries() -> str:
    """How many forgeries were tried and how many passed, from the stored result of the study."""
    results = HERE.parent / "tests" / "studies" / "results" / "dossier.verification.test_forgeries.json"
    (study,) = json.loads(results.read_text(encoding="utf-8"))["studies"].values()
    found = study["found"]
    kinds = ("record", "page", "release", "ledger")
    text = _head("forger", *kinds, "pass `verify`", "pass the stranger")
    for forger in ("without the ledger", "with the ledger, without the key", "the owner, with both"):
        tried = [found.get(f"{forger}: {kind}") for kind in kinds]
        passed = [
            sum(found.get(f"{forger}: {kind} {end}", 0) for kind in kinds)
            for end in ("passed", "passed the stranger")
        ]
        text += _row(forger, *("-" if n is None else f"{n:,}" for n in tried), *(f"{n:,}" for n in passed))
    share = "All of them" if found["one_in"] == 1 else f"One in {found['one_in']}"
    return f"{text}\n{share}, {found['trials']:,} in all, tried on {study['date']}.\n"


def _mutation() -> Any:
    """The report on drawn faults, from committed files."""
    sys.path.insert(0, str(HERE.parent))
    try:
        from tests.mutation.report import Report
    finally:
        sys.path.pop(0)
    return Report.load()


def mutation() -> str:
    """How many drawn faults were tried, by room and by operator, and what became of them."""
    return "\n".join(_mutation().page()) + "\n"


def mutation_classes() -> str:
    """The classes of survivors."""
    return "\n".join(_mutation().classes()) + "\n"


def record_fields() -> dict[str, list[str]]:
    """The fields of every part of a page's record, by its place; an empty text where a plain value may stand there."""
    found: dict[str, list[str]] = {}
    _add_fields(Record, "", found)
    return found


def _add_fields(kind: Any, place: str, found: dict[str, list[str]]) -> None:
    """Note the fields of a section, of those inside it, and of each that a union allows; return nothing."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple:
        _add_fields(inside[0], place, found)
    elif origin is UnionType:
        for one in inside:
            _add_fields(one, place, found)
        if NoneType in inside and place in found:
            found[place].append("")
    elif isinstance(kind, type) and issubclass(kind, Section | Assumption):
        hints = get_type_hints(kind)
        text = " ".join(json_key(one) for one in fields(kind))
        if text not in found.setdefault(place, []):
            found[place].append(text)
        for one in fields(kind):
            _add_fields(hints[one.name], f"{place}.{json_key(one)}".lstrip("."), found)
    elif kind is str and place in found and "" not in found[place]:
        found[place].append("")


def record() -> str:
    """The fields of every part of a page's record."""
    text = _head("part", "its fields")
    for place, alternatives in record_fields().items():
        shown = [
            ", ".join(f"`{name}`" for name in one.split()) or "a plain value, or null" for one in alternatives
        ]
        text += _row(f"`{place}`" if place else "the record", ", or ".join(shown))
    return text


TABLES = {
    "_generated/faults.md": faults,
    "_generated/forgeries.md": forgeries,
    "_generated/mutation.md": mutation,
    "_generated/mutation_classes.md": mutation_classes,
    "_generated/record.md": record,
    "_generated/mechanisms.md": mechanisms,
    "_generated/currencies.md": currencies,
    "_generated/methods.md": methods,
    "_generated/synthesisers.md": synthesisers,
    "_generated/attacks.md": attacks,
    "benchmarks.md": benchmarks,
    "../README.md": readme,
}

if __name__ == "__main__":
    (HERE / "_generated").mkdir(exist_ok=True)
    for name, table in TABLES.items():
        (HERE / name).write_text(table(), encoding="utf-8")
