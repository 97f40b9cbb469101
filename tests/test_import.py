"""What `import holdfast` costs, what it offers, and that no name of an earlier version is lost."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import holdfast

HEAVY = {
    "scipy",
    "sklearn",
    "jax",
    "pyspark",
    "duckdb",
    "pyarrow",
    "pandas",
    "polars",
    "psycopg",
    "matplotlib",
    "numpy",
    "click",
    "jinja2",
    "tqdm",
    "mpmath",
    "sqlite3",
}
HEADLINE = """
    Schema Numeric Categorical Identifier Encoder open_table adult counts_l1 counts_l2 sum_l2
    Account Adjacency PrivacyUnit Guarantee TradeOff PureDP ApproxDP compose
    Ledger Release Certificate
    PrivateLogisticRegression PrivateLinearSVC PrivateLinearRegression PrivateRidge PrivateLasso PrivateSearch
    PrivateAdditiveClassifier PrivateAdditiveRegressor PrivateHuberRegression attribute_risk
    load_model Synthesizer Workload Marginal membership Dossier verify_dossier
""".split()
ROOMS = "attack audit data dossier errors learn ledger plan privacy release synth testing".split()

# What each room exported at the first release of this package; these imports work for ever.
FIRST = {
    "holdfast": """Account Adjacency Categorical Encoder Guarantee Ledger Numeric PrivacyUnit Release Schema
        TradeOff __version__ open_table""",
    "holdfast.attack": """ATTACKS Attack AttackResult Case Exposed MembershipReport ROWS_ATTACKS Rate Records
        References RowsAttack RowsCase Seen Target Threshold membership reference_models shadow_release
        synthetic_membership""",
    "holdfast.audit": """AuditResult Errors FixedGuesses Game GaussianGuesses GuessPath MembershipAudit
        RefutedCurve Sequence Trainings audit membership_game""",
    "holdfast.data": """Batch Categorical ENGINES Encoder Identifier Numeric Order Partition RowSum Schema
        SecondMoment Statistic Table adult adult_schema clip_rows draft_schema open_table""",
    "holdfast.dossier": """Accuracy Bars Comparison Dossier DossierVerification Sureness compare compare_methods
        verify_dossier""",
    "holdfast._kernel": "SgdOptions SgdRun Status StepSize clip implementation start",
    "holdfast.learn": """LEARNERS PrivateLasso PrivateLinearRegression PrivateLinearSVC
        PrivateLogisticRegression PrivateRidge PrivateSearch load_model""",
    "holdfast.ledger": "Dataset Ledger LedgerEntry SignedHead Verification create_key",
    "holdfast.privacy": """Account Adjacency ApproxDP BoundedRange DiscreteGaussian DiscreteLaplace Exponential
        Gaussian GaussianDP Guarantee Laplace LossDistribution MECHANISMS Mechanism ObjectivePerturbation Permit
        PermuteAndFlip PrivacyCurve PrivacyUnit PureDP PureObjectivePerturbation RandomisedResponse RenyiDP
        SubsampledGaussian SubsampledPure TradeOff VectorLaplace WithSlack ZCDP calibrate compose
        resolve_adjacency to_replace""",
    "holdfast.release": "Provenance Release",
    "holdfast.synth": """Answers Certification Conjunctions Counted Estimate Evaluation Marginal
        Measurement Predicates Ranges Synthesizer Thresholds Workload Zeros""",
}
RENAMED = {
    "holdfast.attack": {"Seen": "ReleasedRows"},
    "holdfast.audit": {"Errors": "ErrorRates", "Game": "SequentialTest", "Sequence": "AnytimeGuesses"},
    "holdfast.synth": {"Counted": "ExactCounts", "Estimate": "SynthesisEstimate"},
}


def _loaded(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sorted(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    """Under a tenth of a second: no library, and no room, is loaded before a name is used."""
    names = _loaded("import holdfast")
    assert names.isdisjoint(HEAVY)
    assert {name for name in names if name.startswith("holdfast")} == {"holdfast"}


def test_the_vocabulary_needs_no_database_or_model_library() -> None:
    names = _loaded("from holdfast import Account, ApproxDP, Schema, TradeOff, counts_l2")
    assert names.isdisjoint(HEAVY - {"numpy", "scipy"})


def test_the_face_is_the_headline_names_and_the_rooms() -> None:
    assert sorted(import_module("holdfast").__all__) == sorted([*HEADLINE, *ROOMS])
    for name in ROOMS:
        assert getattr(holdfast, name) is import_module(f"holdfast.{name}")
    assert inspect.isfunction(holdfast.audit.audit)


@pytest.mark.parametrize("room", FIRST)
def test_every_exported_name_resolves(room: str) -> None:
    module = import_module(room)
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert name in dir(module) or "__dir__" not in vars(module)


@pytest.mark.parametrize("room", FIRST)
def test_names_of_the_first_release_still_import(room: str) -> None:
    for name in FIRST[room].split():
        scope: dict[str, object] = {}
        exec(f"from {room} import {name}", scope)
        assert not inspect.ismodule(scope[name])


@pytest.mark.parametrize("room", RENAMED)
def test_a_former_name_is_the_same_object(room: str) -> None:
    module = import_module(room)
    for former, name in RENAMED[room].items():
        assert getattr(module, former) is getattr(module, name)


def _packages() -> list[str]:
    found = pkgutil.walk_packages(holdfast.__path__, "holdfast.")
    return ["holdfast", *sorted(each.name for each in found if each.ispkg)]


@pytest.mark.parametrize("package", _packages())
def test_no_exported_name_is_hidden_by_a_file_of_its_name(package: str) -> None:
    module = import_module(package)
    files = {each.name for each in pkgutil.iter_modules(module.__path__)}
    exported = set(getattr(module, "__all__", ()))
    assert exported & files == (set(ROOMS) if package == "holdfast" else set())
