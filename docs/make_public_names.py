"""Write the table of public names: `python docs/make_public_names.py`.

The list stands here; the line about each name is the first sentence of its docstring, and it links to its place in
the reference.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE / "_generated" / "public_names.md"
HEADLINE = {
    "declare and open data": "Schema Numeric Categorical Identifier open_table Encoder adult",
    "how far one person moves a number": "counts_l1 counts_l2 sum_l2",
    "promise and pay": "Account Ledger Guarantee PureDP ApproxDP compose TradeOff Adjacency PrivacyUnit",
    "learn": """PrivateLogisticRegression PrivateLinearSVC PrivateLinearRegression PrivateRidge PrivateLasso
        PrivateHuberRegression PrivateAdditiveClassifier PrivateAdditiveRegressor PrivateSearch load_model""",
    "synthesise": "Synthesizer Workload Marginal",
    "publish": "Release Certificate Dossier verify_dossier",
    "check": "membership attribute_risk",
}
"""Names of `holdfast` itself, by what a user wants to do."""
FURTHER = {
    "holdfast.privacy": """Assumption PrivacyCurve GaussianDP ZCDP RenyiDP calibrate Mechanism MECHANISMS Gaussian
        Laplace DiscreteGaussian DiscreteLaplace Exponential""",
    "holdfast.data": "Table Order draft_schema ENGINES",
    "holdfast.learn": "LEARNERS Learner Problem",
    "holdfast.synth": """CertificateRequest SYNTHESISERS SynthesisMethod Predicates OneLayer Conjunctions Thresholds
        Ranges Zeros evaluate""",
    "holdfast.statistics": """answer by column Count DistinctUnits Sum Mean Variance Proportion Histogram
        Contingency Quantiles Median Minimum Maximum TableQuestion StatisticsTable""",
    "holdfast.attack": "ATTACKS Attack AttackReport synthetic_membership shadow_release",
    "holdfast.audit": "audit OneRun ManyRuns Sequential Transcript AuditResult membership_game MembershipDesign",
    "holdfast.refute": "refute",
    "holdfast.dossier": "compare",
    "holdfast.plan": "ReleasePlan",
    "holdfast.testing": "check_mechanism check_method check_synthesizer check_attack check_engine check_column",
}
"""Names that are public in their room."""
HEAD = "| name | what it is |\n|---|---|\n"


def headline() -> list[str]:
    """The names of `holdfast`, in the order of the table."""
    return [name for names in HEADLINE.values() for name in names.split()]


@cache
def reference() -> frozenset[str]:
    """The paths that the pages of `docs/api` describe."""
    text = "".join(page.read_text(encoding="utf-8") for page in sorted((HERE / "api").glob("*.md")))
    places = set(re.findall(r"^\.\. auto(?:class|function|data):: (\S+)", text, flags=re.M))
    for module in re.findall(r"^\.\. automodule:: (\S+)", text, flags=re.M):
        own = vars(import_module(module)).items()
        places |= {f"{module}.{name}" for name, value in own if getattr(value, "__module__", "") == module}
    return frozenset(places)


def _value(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def place(room: str, name: str) -> str:
    """The path under which the reference describes this object."""
    if f"{room}.{name}" in reference():
        return f"{room}.{name}"
    wanted = getattr(import_module(room), name)
    same = [path for path in sorted(reference()) if path.endswith(f".{name}") and _value(path) is wanted]
    if not same:
        raise KeyError(f"{room}.{name} has no place in docs/api")
    return same[0]


def _note(room: str, name: str) -> str:
    """The string under the assignment of a constant, which Python does not keep, or what its file is about."""
    stub = Path(import_module(room).__file__ or "").with_suffix(".pyi")
    homes = re.findall(rf"^from (\.\S*) import {name} as", stub.read_text(encoding="utf-8"), flags=re.M)
    home = import_module(f"{room}{homes[0]}")
    body = ast.parse(Path(home.__file__ or "").read_text(encoding="utf-8")).body
    for statement, after in pairwise(body):
        targets = (
            [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
        )
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
        if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return str(after.value.value)
    return home.__doc__ or ""


def sentence(room: str, name: str) -> str:
    """What the docstring says first."""
    value = getattr(import_module(room), name)
    plain = inspect.isclass(value) or inspect.isfunction(value)
    text = (value.__doc__ if plain else _note(room, name)) or ""
    paragraph = re.sub(r"\s+", " ", text.strip().split("\n\n")[0])
    first = re.split(r"(?<=[.])\s+(?=[A-Z`])", paragraph)[0].rstrip(".")
    if not first:
        raise ValueError(f"{room}.{name} has no docstring")
    escaped = first if "`" in first else re.sub(r"([*_])", r"\\\1", first)
    return escaped.replace("|", r"\|")


def _row(room: str, name: str) -> str:
    return f"| {{py:obj}}`{name} <{place(room, name)}>` | {sentence(room, name)} |\n"


def page() -> str:
    """Both lists as tables."""
    text = f"## At the top: {len(headline())} names\n\n"
    for what, names in HEADLINE.items():
        text += f"**{what}**\n\n{HEAD}"
        text += "".join(_row("holdfast", name) for name in names.split()) + "\n"
    further = sum(len(names.split()) for names in FURTHER.values())
    text += f"## In the rooms: {further} more\n\n"
    for room, names in FURTHER.items():
        text += f"`{room}`\n\n{HEAD}" + "".join(_row(room, name) for name in names.split()) + "\n"
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
