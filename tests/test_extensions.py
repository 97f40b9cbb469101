"""Entries of others: found by name, refused where they lack something, and never taken for holdfast's own."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import holdfast.privacy._mechanisms as mechanisms
from holdfast import Account, Categorical, Numeric, Release, Schema, open_table
from holdfast._assumption import Assumption
from holdfast.attack import ATTACKS, Attack, Attacker, Scoring, ShadowModels, Target, membership
from holdfast.data._engines import engine_for
from holdfast.data._engines.engine import Engine
from holdfast.data._engines.memory import connect as in_memory
from holdfast.dossier import Dossier, verify_dossier
from holdfast.dossier._verification.ledger_checks import unrecorded_assumptions
from holdfast.errors import ExtensionError, FormatError, NotPrivateWarning, ParameterError
from holdfast.learn import LEARNERS, PrivateLogisticRegression
from holdfast.learn._catalogue import REGISTRY
from holdfast.learn._choice import find_learner
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, Gaussian, Mechanism, PureDP, SubsampledPure
from holdfast.privacy._mechanisms import MECHANISMS, mechanism_from_json, stored_mechanism
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload
from holdfast.synth._choice import find_synthesis_method


class Point:
    """An entry point of a package that is not there."""

    def __init__(self, name: str, entry: Any, package: str = "acme", version: str = "1.2") -> None:
        self.name, self._entry = name, entry
        self.dist = SimpleNamespace(name=package, version=version)
        self.loaded = 0

    def load(self) -> Any:
        self.loaded += 1
        if isinstance(self._entry, BaseException):
            raise self._entry
        return self._entry


def install(monkeypatch: pytest.MonkeyPatch, group: str, *points: Point) -> None:
    monkeypatch.setattr("holdfast._extensions._entry_points", lambda asked: points if asked == group else ())


OUTPUT = find_learner("output")
MINE = replace(OUTPUT, name="mine")
NOTHING: Any = None
SMALL: Any = {"sigma": 9.0, "l2_sensitivity": 1.0}


def impostor() -> type[Mechanism]:
    """A class that calls itself as one of holdfast's does, and says so wherever it is asked."""

    @dataclass(frozen=True, kw_only=True)
    class Gaussian(mechanisms.Gaussian):
        def to_json(self) -> dict[str, Any]:
            return super().to_json() | {"mechanism": "Gaussian"}

        @property
        def name(self) -> str:
            return "Gaussian"

    return Gaussian


# The registry.


def test_nothing_is_looked_up_while_a_name_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: str) -> Any:
        raise AssertionError(f"{group} was looked up")

    monkeypatch.setattr("holdfast._extensions._entry_points", refuse)
    assert REGISTRY.find("output") is OUTPUT
    assert find_synthesis_method("independent").pure
    assert engine_for({"a": [1]}).name == "memory"
    Schema.from_dict(Schema([Numeric("a", 0, 1)]).to_dict())


@pytest.mark.slow
def test_importing_holdfast_looks_nothing_up() -> None:
    code = (
        "import sys, importlib.metadata as m\n"
        "m.entry_points = lambda **k: sys.exit('looked up')\n"
        "import holdfast.learn._estimators, holdfast.synth._synthesizer, holdfast.attack, holdfast.testing\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_package_is_imported_for_its_own_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = Point("mine", MINE), Point("other", ImportError("no"))
    install(monkeypatch, "holdfast.methods", mine, other)
    assert REGISTRY.find("mine") is MINE
    assert REGISTRY.names() == sorted([*(one.name for one in LEARNERS), "mine", "other"])
    assert (mine.loaded, other.loaded) == (1, 0)
    assert REGISTRY.find("nobody") is None


def lacking(entry: Any, name: str) -> Any:
    """An entry without one of its fields, as its constructor would never make it."""
    short = copy.copy(entry)
    object.__setattr__(short, name, None)
    return short


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (
            Point("mine", ImportError("no module 'x'")),
            "registers 'mine' in holdfast.methods, and it cannot be",
        ),
        (Point("mine", SystemExit(3)), "cannot be loaded: SystemExit"),
        (Point("mine", object()), "must be an instance of Learner, got one of object"),
        (Point("mine", replace(MINE, name="yours")), "calls itself 'yours'"),
        (Point("mine", replace(MINE, paper="", adjacencies=())), "'mine' lacks adjacencies, paper"),
        (Point("mine", lacking(MINE, "run")), "'mine' lacks run"),
        (Point("output", replace(OUTPUT, paper="mine")), "'output' has a name of holdfast's own"),
        (Point("a b", replace(MINE, name="a b")), "must have a name of up to 64 letters"),
    ],
)
def test_a_package_that_cannot_be_taken_is_named(
    monkeypatch: pytest.MonkeyPatch, point: Point, words: str
) -> None:
    install(monkeypatch, "holdfast.methods", point)
    with pytest.raises(ExtensionError, match=r"acme 1\.2") as raised:
        REGISTRY.everything()
    assert words in str(raised.value)
    assert REGISTRY.find("output") is OUTPUT  # ours wins


def test_two_packages_with_one_name_are_both_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "holdfast.methods", Point("mine", MINE), Point("mine", MINE, package="rival"))
    with pytest.raises(ExtensionError, match=r"acme 1\.2 and rival 1\.2 both register the method 'mine'"):
        REGISTRY.find("mine")


def test_a_class_that_lacks_an_ability_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half(Mechanism):
        """No law."""

        theorem = ""

    install(monkeypatch, "holdfast.mechanisms", Point("Half", Half))
    with pytest.raises(ExtensionError, match=r"'Half' lacks .*cdf.*log_ratio.*theorem"):
        mechanisms.REGISTRY.find("Half")


# Whose it is.


def test_ours_is_known_by_identity_and_not_by_name() -> None:
    assert REGISTRY.author(OUTPUT) is None
    twin = replace(OUTPUT)
    assert twin == OUTPUT
    author = REGISTRY.author(twin)
    assert author is not None
    assert author.assumption.subject == "output [unregistered]"
    for find, own in ((find_learner, LEARNERS), (find_synthesis_method, SYNTHESISERS)):
        with pytest.raises(ParameterError, match="a name of holdfast's own"):
            find(replace(own[0]))


def test_a_package_is_named_for_the_very_object_that_it_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "holdfast.methods", Point("mine", MINE))
    author, twin = REGISTRY.author(MINE), REGISTRY.author(replace(MINE))
    assert author is not None
    assert twin is not None
    assert (author.package, twin.package) == ("acme 1.2", "")
    assert author.assumption.text.startswith("the method 'mine' is from the package acme 1.2:")
    assert not author.assumption.voids
    assert twin.assumption.voids
    install(monkeypatch, "holdfast.methods", Point("mine", ImportError("gone")))
    broken = REGISTRY.author(MINE)  # asked after budget was spent: no error then
    assert broken is not None
    assert not broken.package


def test_a_mechanism_that_calls_itself_as_ours_is_none_of_ours() -> None:
    """The hole: charges were recognised by the name of the class."""
    strange: Any = impostor()(**SMALL)
    account = Account(ZCDP(1.0))
    release = Release.of(account, account.release(strange, [3.0]), method="a count")
    stored = account.journal.entries[0].charge.mechanism
    assert stored["mechanism"] == f"{__name__}:impostor.<locals>.Gaussian"
    made = Dossier(release)
    assert any("impostor.<locals>.Gaussian'" in one.text and one.voids for one in made.record.doubts)
    assert '<li class="red">the mechanism' in made.html()
    with pytest.raises(FormatError):
        mechanism_from_json(stored)


def test_a_mechanism_inside_of_ours_is_told_apart() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Laplace(mechanisms.Laplace):
        """Not ours."""

    inner: Any = Laplace(scale=4.0, l1_sensitivity=1.0)
    account = Account(PureDP(1.0), adjacency="add_remove")
    value = account.release(SubsampledPure(base=inner, rate=0.5), [3.0])
    (said,) = Release.of(account, value, method="a count").guarantee.assumptions
    assert (said.kind, said.voids) == ("mechanism by others", True)
    assert "<locals>.Laplace [unregistered]" in said.subject


def test_only_one_of_ours_holds_another_mechanism() -> None:
    """Charges of the others need not be looked into."""
    holding = {
        kind.__name__
        for kind in MECHANISMS
        for one in kind.examples()
        if any(isinstance(getattr(one, field.name), Mechanism) for field in dataclasses.fields(one))
    }
    assert holding == {"SubsampledPure"}
    for kind in MECHANISMS:
        for one in kind.examples():
            assert stored_mechanism(one) == one.to_json()


def test_something_that_is_no_mechanism_is_refused_before_it_is_charged() -> None:
    account = Account(ZCDP(1.0))
    strange: Any = SimpleNamespace()
    with pytest.raises(ParameterError, match="mechanism must be a Mechanism"):
        account.release(strange, [1.0])
    with pytest.raises(ParameterError, match="mechanism must be a Mechanism"):
        account.permit(strange, times=1)
    assert not account.journal.entries


@dataclass(frozen=True, kw_only=True)
class Loud(Gaussian):
    """A mechanism of an installed package."""


def test_a_mechanism_of_a_package_names_it_and_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "holdfast.mechanisms", Point("Loud", Loud))
    account = Account(ZCDP(1.0))
    release = Release.of(account, account.release(Loud(**SMALL), [3.0]), method="a count")
    stored = account.journal.entries[0].charge.mechanism
    assert (stored["mechanism"], stored["from"]) == (f"{__name__}:Loud", "acme 1.2")
    (said,) = release.guarantee.assumptions
    assert said.text.startswith(f"the mechanism '{__name__}:Loud' is from the package acme 1.2:")
    assert [one.voids for one in Dossier(release).record.doubts if one == said] == [False]
    assert mechanism_from_json(stored) == Loud(**SMALL)
    for forged in ({"mechanism": "elsewhere:Loud"}, {"mechanism": "Loud"}):
        with pytest.raises(FormatError):
            mechanism_from_json(stored | forged)


# Releases by methods, engines and columns of others.

X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(400, 3))
Y = np.where(X[:, 0] > 0, 1, 0)


def fitted(method: Any) -> Release[Any]:
    model = PrivateLogisticRegression(
        method=method, delta=1e-6, penalty=0.1, row_norm=1.0, classes=[0, 1], random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seeded, and fitted twice
        release = model.fit(X, Y).release_
    assert release is not None
    assert model.method_ == "mine"
    return release


def test_a_model_by_a_method_of_others_says_whose(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = fitted(MINE)
    assert passed.provenance.title == "PrivateLogisticRegression, mine [unregistered]"
    install(monkeypatch, "holdfast.methods", Point("mine", MINE))
    named = fitted("mine")
    assert named.provenance.title == "PrivateLogisticRegression, mine [package acme 1.2]"
    assert (named.provenance.method, named.provenance.package) == ("mine", "acme 1.2")
    for release, words in ((passed, "is not registered:"), (named, "is from the package acme 1.2:")):
        assert any(one.text.startswith(f"the method 'mine' {words}") for one in release.guarantee.assumptions)
        assert not unrecorded_assumptions(release)
        silent = replace(release, guarantee=replace(release.guarantee, assumptions=()))
        assert len(unrecorded_assumptions(silent)) == 1


def test_synthetic_rows_by_a_method_of_others_say_whose() -> None:
    mine = replace(find_synthesis_method("independent"), name="mine")
    made = Synthesizer(method=mine, delta=1e-6, workload=Workload.of([("a",)]), random_state=1)
    schema = Schema([Categorical("a", ["x", "y"])])
    with pytest.warns(NotPrivateWarning):
        made.fit({"a": ["x", "y"] * 50}, schema)
    release = made.release_
    assert release is not None
    assert release.provenance.title == "Synthesizer, mine [unregistered]"
    assert not unrecorded_assumptions(release)


@dataclass(frozen=True)
class Doubled(Numeric):
    """Reads twice the number."""

    kind: ClassVar[str] = "doubled"

    def read(self, number: float, text: str | None) -> float:
        if text == "bomb":
            raise RuntimeError(text)
        return 2 * number


def test_a_column_kind_of_ones_own_reads_and_is_said_to() -> None:
    schema = Schema([Doubled("a", 0, 10), Categorical("b", ["x"])])
    table = open_table({"a": [1, 4, 9, "bomb", None], "b": ["x"] * 5}, schema)
    (batch,) = table.batches()
    assert sorted(batch.column("a").tolist()) == [
        2.0,
        5.0,
        5.0,
        8.0,
        10.0,
    ]  # clipped, and missing where it raises
    assert "the column kind 'doubled' is not registered: that it reads each row by itself" in " ".join(
        map(str, table.assumptions)
    )


def test_a_column_kind_of_a_package_is_read_from_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    schema = Schema([Doubled("a", 0, 10)])
    schema.save(tmp_path / "s.toml")
    with pytest.raises(
        FormatError, match="whose kind is one of categorical, datetime, hierarchy, identifier, numeric"
    ):
        Schema.load(tmp_path / "s.toml")
    install(monkeypatch, "holdfast.columns", Point("doubled", Doubled))
    assert Schema.load(tmp_path / "s.toml") == schema
    assert "is from the package acme 1.2" in " ".join(map(str, open_table({"a": [1]}, schema).assumptions))


def test_a_column_kind_that_no_database_can_run_is_refused_there(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="'doubled', which reads values by Python code"):
        open_table(tmp_path / "rows.csv", Schema([Doubled("a", 0, 10)]))


def test_a_column_kind_named_as_ours_is_refused() -> None:
    @dataclass(frozen=True)
    class Mine(Categorical):
        """The same `kind`."""

    with pytest.raises(ParameterError, match="column kind 'categorical' has a name of holdfast's own"):
        Schema([Mine("a", ["x"])])
    with pytest.raises(
        ParameterError,
        match="columns must be a list in which each is a Numeric, a Categorical or an Identifier",
    ):
        Schema([object()])  # type: ignore[list-item]


def gone(source: Any, schema: Schema, **options: Any) -> Any:
    """Reads a mapping inside of a tuple."""
    return in_memory(source[0], schema, **options)


def nothing(*_: Any, **__: Any) -> Any:
    """No table."""
    return 3


TUPLES = Engine(name="tuples", takes="tuples", accepts=lambda one: isinstance(one, tuple), connect=gone)


def test_an_engine_of_ones_own_opens_tables_and_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    schema, rows = Schema([Numeric("a", 0, 1)]), ({"a": [0.5]},)
    with pytest.raises(ParameterError, match="source must be one of"):
        open_table(rows, schema)
    passed = open_table(rows, schema, engine=TUPLES)
    assert "the engine 'tuples' is not registered: that it reads every row once" in " ".join(
        map(str, passed.assumptions)
    )
    install(monkeypatch, "holdfast.engines", Point("tuples", TUPLES))
    for engine in (None, "tuples", TUPLES):
        assert "is from the package acme 1.2" in " ".join(
            map(str, open_table(rows, schema, engine=engine).assumptions)
        )
    with pytest.raises(ParameterError, match=r"gives.* must be a Table"):
        open_table(rows, schema, engine=replace(TUPLES, connect=nothing))
    with pytest.raises(ParameterError, match="a name of holdfast's own"):
        open_table(rows, schema, engine=replace(TUPLES, name="memory"))
    with pytest.raises(ParameterError, match=r"one of \['duckdb', 'memory', 'postgres', 'spark', 'tuples'\]"):
        open_table(rows, schema, engine="sheets")


def test_an_own_table_without_an_engine_is_said_to_be_one() -> None:
    from holdfast.data._engines.memory import MemoryTable

    class Sheet(MemoryTable):
        """Of nobody's engine."""

    plain = open_table({"a": [0.5]}, Schema([Numeric("a", 0, 1)]))
    plain.__class__ = Sheet
    assert "Sheet' is not registered" in " ".join(map(str, plain.assumptions))


@pytest.mark.slow
def test_an_attack_of_others_is_played_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = next(one for one in ATTACKS if one.name == "loss")
    mine = replace(loss, name="mine")
    from sklearn.linear_model import LogisticRegression

    told: Any = {"members": (X[:200], Y[:200]), "non_members": (X[200:], Y[200:])}
    model = LogisticRegression().fit(X[:200], Y[:200])
    assert membership(model, attacks=[mine], **told).notes == {
        "mine": "the attack 'mine' is not registered: that it sees no answers is the claim of its author"
    }
    with pytest.raises(ParameterError, match="a name of holdfast's own"):
        membership(model, attacks=[replace(loss)], **told)
    install(monkeypatch, "holdfast.attacks", Point("mine", mine))
    assert "mine" in membership(model, attacks="all", shadows=ShadowModels(count=4), **told).notes
    assert "is from the package" in membership(model, attacks="mine", **told).notes["mine"]


def test_an_attribute_attack_of_others_is_marked_on_the_internal_page() -> None:
    """Its author's word stands in the report and, through it, on the owner's page."""
    from holdfast.attack import attribute_risk

    people = {"s": Y[:240] > 0, "a": X[:240, 0], "y": (Y[:240] > 0) ^ (X[:240, 1] > 1)}
    cut, others = ({k: v[part] for k, v in people.items()} for part in (slice(80), slice(80, None)))
    mine = Attack(
        name="mine", kind="attribute", guess=lambda case: case.imputation, paper="none", knows=("answers",)
    )
    risk = attribute_risk(
        Target.of(lambda rows: np.full(len(rows["s"]), 0.5), classes=[False, True]),
        cut,
        fresh=others,
        sensitive="s",
        target="y",
        attacker=Attacker(own=(50,), attacks=[mine]),
        scoring=Scoring(surest=10),
        random_state=0,
    )["s"]
    words = "the attack 'mine' is not registered: that it sees no answers is the claim of its author"
    assert risk.notes["mine"] == words
    assert words in risk.summary()  # an internal page prints the summary, in the attack's own words


def test_refutations_take_what_packages_register(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.refute._subjects import subject_names

    install(monkeypatch, "holdfast.methods", Point("mine", MINE))
    found = {one.name for one in subject_names()}
    assert {f"mine {adjacency}" for adjacency in MINE.adjacencies} <= found
    install(monkeypatch, "holdfast.mechanisms", Point("Loud", Loud))
    assert sum(one.name.startswith("Loud(") for one in subject_names()) == len(Loud.examples())
    mine = replace(find_synthesis_method("independent"), name="mine")
    install(monkeypatch, "holdfast.synthesizers", Point("mine", mine))
    assert sum(one.name.startswith("mine ") for one in subject_names()) == len(mine.adjacencies)


# Verification.


def paid(folder: Path, mechanism: Any, *, keep: bool = True) -> tuple[Path, Path]:
    """A release by this mechanism, paid by a ledger; without `keep` it is closed without what it assumes."""
    with Ledger.create(folder / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0))
        account = ledger.account("clinic", name="counts", limit=ZCDP(0.9), approver="M. Head")
        value = account.release(mechanism, [3.0])
        with pytest.MonkeyPatch.context() as patch:
            if not keep:
                patch.setattr("holdfast.release._release.foreign_proofs", lambda charged: [])
            release = Release.of(account, value, method="a count")
        release.save(folder / "r.holdfast")
        Dossier.of_files([folder / "r.holdfast"], ledger=ledger).save(folder / "d.html")
    return folder / "d.html", folder / "r.holdfast"


@pytest.mark.slow
@pytest.mark.parametrize("installed", [True, False])
def test_verify_asks_the_charges_whose_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    install(monkeypatch, "holdfast.mechanisms", *([Point("Loud", Loud)] if installed else []))
    for keep in (True, False):
        folder = tmp_path / str(keep)
        folder.mkdir()
        page, release = paid(folder, Loud(**SMALL), keep=keep)
        found = verify_dossier(page, releases=[release], ledger=folder / "ledger.db")
        said = [text for text in found.problems if "it does not say what it rests on" in text]
        assert bool(said) is not keep
        assert not keep or not found.problems


class Harmless(Assumption):
    """What a forger's page makes of every assumption of a release."""

    @classmethod
    def from_json(cls, data: Any) -> Any:
        return replace(Assumption.from_json(data), voids=False)


@pytest.mark.slow
@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("hidden", ["", "assumption", "red"])
def test_a_stranger_asks_the_charges_and_the_page_whose_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: bool, hidden: str
) -> None:
    from tests.dossier.verification import forging
    from tests.dossier.verification.forgeries import extracted, stranger

    install(monkeypatch, "holdfast.mechanisms", *([Point("Loud", Loud)] if installed else []))
    monkeypatch.setattr(forging, "Gaussian", Loud)
    with pytest.MonkeyPatch.context() as patch:
        if hidden == "assumption":
            patch.setattr("holdfast.release._release.foreign_proofs", lambda charged: [])
        if hidden == "red":
            patch.setattr("holdfast.dossier._doubts.Assumption", Harmless)
        case = forging.sound(tmp_path / "case")
    extract = extracted(case, case.key, tmp_path / "extract.json")
    assert extract is not None
    sound = not hidden or (hidden == "red" and installed)
    found = verify_dossier(case.page, releases=[case.release], ledger=case.ledger)
    assert (not found.problems) is sound
    assert hidden or any("took its author's word" in text for text in found.skipped)
    if sound:
        stranger().verify(case.page, [case.release], extract, case.public)
        return
    words = {"assumption": "it does not say what it rests on", "red": "does not show in red"}[hidden]
    with pytest.raises(stranger().Wrong, match=words):
        stranger().verify(case.page, [case.release], extract, case.public)


def test_a_stranger_knows_what_a_release_must_assume() -> None:
    from tests.dossier.verification.forgeries import stranger

    read = stranger().taken_on_trust
    assert read({"method": "mine", "package": ""}, []) == [("method by others", "mine [unregistered]", True)]
    assert read({"method": "mine", "package": "a-b 1.0"}, []) == [
        ("method by others", "mine [package a-b 1.0]", False)
    ]
    own = {"method": "two counts [draft]", "package": "holdfast"}
    assert read(own, [{"mechanism": "Gaussian", "sigma": 1.0}]) == []
    inside = {"mechanism": "SubsampledPure", "base": {"mechanism": "m:Laplace", "from": "p 1"}}
    assert read(own, [inside]) == [("mechanism by others", "m:Laplace [package p 1]", False)]


def test_a_search_names_every_method_that_saw_the_rows() -> None:
    """Whichever candidate was chosen: its privacy rests on all of them."""
    from holdfast.learn import PrivateSearch

    model = PrivateLogisticRegression(classes=[0, 1], penalty=0.1)
    search = PrivateSearch(model, {"method": ["output", MINE]}, epsilon=4.0, delta=1e-6, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = {search.set_params(random_state=seed).fit(X, Y).best_index_ for seed in range(6)}
    said = search.release_.guarantee.assumptions
    assert 0 in chosen
    assert sum((one.kind, one.voids) == ("method by others", True) for one in said) == 1
