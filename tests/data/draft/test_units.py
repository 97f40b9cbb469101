"""Whom a draft would protect: it lists columns that may name a person, and decides nothing."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast._cli.app import app
from holdfast.attack import (
    invertibility,
    publishing_options,
    shadow_release,
    synthetic_disclosure,
    synthetic_membership,
)
from holdfast.attack._attribute_risk import attribute_risk
from holdfast.data import Encoder, Numeric, Schema, open_table
from holdfast.data._batch import encode_batch
from holdfast.data._draft import Draft, draft_of
from holdfast.data._draft.unit_names import Likeness, likeness
from holdfast.data._draft.units import UnitCandidate, UnitEvidence
from holdfast.data._schema import Categorical, Identifier, UnconfirmedUnit
from holdfast.dossier import compare_methods
from holdfast.dossier._comparison.epsilons import compare_epsilons
from holdfast.errors import FormatError, ParameterError
from holdfast.learn import recommend
from holdfast.learn._forecast import rehearse
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth import Synthesizer
from holdfast.synth._evaluation.evaluator import evaluate_against_real
from holdfast.synth._forecast import forecast_synthesis

WHOSE = (
    "patient",
    "Patient",
    "customer",
    "client",
    "person",
    "member",
    "pupil",
    "household",
    "respondent",
    "employee",
    "subject",
    "paciente",
    "cliente",
    "usuario",
    "Kunden",
    "Patienten",
    "Mitglieds",
    "klant",
)
JOINED = (
    "{}_id",
    "{}ID",
    "id_{}",
    "{}_number",
    "{}-Nr",
    "num_{}",
    "{} no.",
    "{}_uuid",
    "hashed_{}_id",
    "{}_key",
)
KNOWN = (
    "SERIALNO",
    "SEQN",
    "pid",
    "caseid",
    "CPSIDP",
    "mrn",
    "ssn",
    "RESPID",
    "Kundennummer",
    "Versichertennummer",
    "Matrikelnummer",
    "numéro_patient",
    "n°_patient",
    "personnummer",
    "患者ID",
    "顧客番号",
    "회원번호",
    "SUBJECT_ID",
    "email",
)
OTHERS = (
    "charge",
    "product",
    "industry_code",
    "NAICSP",
    "patient_age",
    "client_count",
    "number_of_rooms",
    "num_children",
    "customer_segment",
    "diagnosis",
    "comment",
    "zip_code",
    "occupation",
    "description",
    "Branche",
    "marque",
    "PERWT",
    "household_size",
    "member_since",
    "product_name",
)


@st.composite
def person_names(draw: st.DrawFn) -> str:
    """A name that says that a column identifies somebody."""
    if draw(st.booleans()):
        return draw(st.sampled_from(KNOWN))
    joined = draw(st.sampled_from(JOINED)).format(draw(st.sampled_from(WHOSE)))
    return draw(st.sampled_from([joined, joined.upper() if "_" in joined else joined]))


def identifiers(kind: str, people: int, rows: int, coins: random.Random) -> list[Any]:
    """Values that tell people apart, as they are stored."""
    kinds: dict[str, list[Any]] = {
        "numbers": [coins.randrange(10**6) for _ in range(people)],
        "counted": [10_000 + place for place in range(people)],
        "texts": [f"P{coins.randrange(10**8):08d}" for _ in range(people)],
        "hashes": [f"{coins.getrandbits(128):032x}" for _ in range(people)],
        "names": [
            f"{coins.choice('ABCDEFG')}. {coins.choice('klmnop') * 4}{place}" for place in range(people)
        ],
    }
    return [coins.choice(kinds[kind]) for _ in range(rows)]


def repeated_texts(values: int, rows: int, coins: random.Random) -> list[str]:
    """Texts that repeat as a person's identifier does: charges, products, industries."""
    words: list[str] = [
        f"{coins.choice(['theft', 'fraud', 'shop', 'wool'])} of the kind {'xyz' * (k % 5)} {k}th"
        for k in range(values)
    ]
    return [coins.choice(words) for _ in range(rows)]


@given(person_names())
def test_names_of_people_are_known(name: str) -> None:
    assert likeness(name) is Likeness.person_identifier


@pytest.mark.parametrize("name", OTHERS)
def test_names_of_other_things_name_nobody(name: str) -> None:
    assert likeness(name) is Likeness.none


@pytest.mark.parametrize("name", ["NoEmp", "num_patients"])
def test_a_number_of_people_stays_a_feature_and_a_candidate(name: str) -> None:
    coins = random.Random(3)
    people = [coins.choice([1, 1, 1, 2, 3, 5, 40, *range(60)]) for _ in range(500)]
    draft = draft_of({"pay": list(range(500)), name: people})
    column = next(column for column in draft.schema.columns if column.name == name)
    assert isinstance(column, Numeric)
    assert draft.schema.unit == UnconfirmedUnit([name])


@settings(max_examples=12)
@given(
    st.integers(0, 2**32),
    st.lists(person_names(), max_size=2, unique_by=str.lower),
    st.lists(st.sampled_from(OTHERS), min_size=1, max_size=3, unique=True),
    st.sampled_from(["numbers", "counted", "texts", "hashes", "names"]),
)
def test_a_draft_never_decides_whom_to_protect(
    seed: int, people: list[str], others: list[str], kind: str
) -> None:
    """Whatever the rows are: the unit is open, or a row as an assumption, and no text is a candidate by repeating."""
    coins, rows = random.Random(seed), 500
    frame: dict[str, list[Any]] = {
        name: repeated_texts(coins.randint(210, 420), rows, coins) for name in others
    }
    frame |= {name: identifiers(kind, coins.randint(60, 300), rows, coins) for name in people}
    frame |= {
        "seen": [f"2024-01-{coins.randint(1, 28):02d}" for _ in range(rows)],
        "x": [coins.random() for _ in range(rows)],
    }
    draft = draft_of(dict(coins.sample(list(frame.items()), len(frame))))
    assert not isinstance(draft.schema.unit, PrivacyUnit) or draft.schema.unit.column is None
    assert {one.name for one in draft.candidates} == set(people)
    assert draft.schema.unit_taken_from_data == (not people)
    if people:
        assert draft.schema.unit == UnconfirmedUnit([one.name for one in draft.candidates])
        assert set(people) <= set(draft.schema.identifiers)
        assert draft.schema.to_dict()["unit"] == {
            "confirmed": False,
            "candidates": list(draft.schema.unit.candidates),
        }
    assert Schema.from_dict(tomllib.loads(draft.to_toml())) == draft.schema


def test_the_best_name_comes_first() -> None:
    coins = random.Random(1)
    frame: dict[str, list[Any]] = {
        "visit_id": list(range(70_000, 70_600)),
        "ward": repeated_texts(400, 600, coins),
        "customer": identifiers("names", 250, 600, coins),
        "patient_id": identifiers("texts", 200, 600, coins),
    }
    draft = draft_of(frame)
    assert [one.name for one in draft.candidates] == ["patient_id", "customer", "visit_id"]
    people = frame["patient_id"]
    owned = [people.count(one) for one in set(people)]
    assert (
        f"# one patient_id, of {len(owned)}: {max(owned)} rows at most, nine of ten have at most "
        in draft.to_toml()
    )
    assert "# one visit_id, of 600: each has one row, so it is the same as a row" in draft.to_toml()


def test_a_word_for_a_person_is_a_question_and_stays_a_feature() -> None:
    """A `device` of thirty kinds may be whose the rows are: the draft asks, and declares what it sees."""
    coins = random.Random(3)
    rows: dict[str, list[Any]] = {
        "device": [f"kind {coins.randrange(30)}" for _ in range(500)],
        "household": [coins.randint(1, 9) for _ in range(500)],
        "email": [coins.choice(["yes", "no"]) for _ in range(500)],
    }
    draft = draft_of(rows)
    assert draft.schema.unit == UnconfirmedUnit(["device"])
    assert draft.schema.names == ("device", "household", "email")
    assert (
        'max_rows = 50, taken_from_data = true }  # and declare that column by name and kind = "identifier"'
        in draft.to_toml()
    )
    said = draft.schema.with_unit("device", max_rows=25)
    assert (said.names, said.identifiers) == (("household", "email"), ("device",))


def test_values_that_were_given_out_are_candidates_by_themselves() -> None:
    coins = random.Random(2)
    hashes = identifiers("hashes", 250, 600, coins)
    draft = draft_of({"who": hashes, "what": repeated_texts(300, 600, coins), "y": [1.5] * 600})
    assert [one.name for one in draft.candidates] == ["who"]
    assert draft.schema.identifiers == ("who",)
    assert "# no features, because they are identifiers: who" in draft.to_toml()


@pytest.mark.parametrize("seed", range(6))
def test_an_identifier_that_repeats_is_asked_about(seed: int) -> None:
    """Whatever its letters and its name: what tells rows or people apart and comes back may be a person."""
    coins = random.Random(seed)
    letters, digits = "ABCDEFGHIJKLMNOPRSTUVZ", "0123456789"
    shape = "".join(coins.choice("LDD") for _ in range(coins.randint(8, 16))) + "LD"
    people = ["".join(coins.choice(letters if kind == "L" else digits) for kind in shape) for _ in range(400)]
    name = coins.choice(["codice_fiscale", "kod", "who_is_it", "rc"])
    draft = draft_of({name: [coins.choice(people) for _ in range(700)], "x": list(range(700))})
    assert draft.schema.identifiers
    assert name in [candidate.name for candidate in draft.candidates]
    assert isinstance(draft.schema.unit, UnconfirmedUnit)


def test_things_of_which_there_are_few_are_categories() -> None:
    """A branch that thousands of rows come back to tells nobody apart."""
    coins = random.Random(1)
    places = [f"B{k:03d}" for k in range(250)]
    drafted = draft_of({"place": [coins.choice(places) for _ in range(60_000)]}).schema
    assert drafted.identifiers == ()


# Every door.


class Untouchable(dict[str, Any]):
    """Rows that nobody may look at."""

    def __getitem__(self, name: str) -> Any:
        raise AssertionError("a row was read")

    def __iter__(self) -> Any:
        raise AssertionError("a row was read")

    column_names = __iter__
    columns = property(__iter__)


OPEN = Schema(
    [
        Numeric("age", 0, 100, bins=4),
        Categorical("ill", ["no", "yes"]),
        Identifier("patient_id"),
        Identifier("visit"),
    ],
    unit=UnconfirmedUnit(["patient_id", "visit"]),
)
ROWS = Untouchable(age=[1, 2], ill=["no", "yes"], patient_id=["a", "b"], visit=["1", "2"])
DOORS: dict[str, Callable[[Schema], Any]] = {
    "open_table": lambda schema: open_table(ROWS, schema),
    "a file": lambda schema: open_table("nowhere.parquet", schema),
    "a server": lambda schema: open_table("postgresql://nobody@127.0.0.1:1/none?table=t", schema),
    "encode_batch": lambda schema: encode_batch(schema, ROWS, 2),
    "Encoder.fit": lambda schema: Encoder(schema).fit(ROWS),
    "Encoder.transform": lambda schema: Encoder(schema).transform(ROWS),
    "Synthesizer.fit": lambda schema: Synthesizer().fit(ROWS, schema),
    "Synthesizer.estimate": lambda schema: Synthesizer().estimate(schema, rows=100),
    "recommend": lambda schema: recommend(schema, target="ill", epsilon=1.0, rows=100),
    "forecast_synthesis": lambda schema: forecast_synthesis(schema, rows=100, epsilons=[1.0], delta=1e-6),
    "rehearse": lambda schema: rehearse(ROWS, schema, target="ill", epsilons=[1.0], delta=1e-6),
    "compare_methods": lambda schema: compare_methods(
        ROWS, schema, target="ill", methods=["output"], epsilon=1.0, delta=1e-6
    ),
    "compare_epsilons": lambda schema: compare_epsilons(ROWS, schema, target="ill", delta=1e-6),
    "evaluate": lambda schema: evaluate_against_real(ROWS, ROWS, schema),
    "attribute_risk": lambda schema: attribute_risk(ROWS, ROWS, sensitive="ill", schema=schema),
    "invertibility": lambda schema: invertibility(ROWS, ROWS, schema=schema),
    "publishing_options": lambda schema: publishing_options(
        ROWS, ROWS, "ill", sensitive="age", schema=schema
    ),
    "shadow_release": lambda schema: shadow_release(lambda rows: rows, ROWS, ROWS, schema=schema),
    "synthetic_disclosure": lambda schema: synthetic_disclosure(
        ROWS, members=ROWS, control=ROWS, schema=schema
    ),
    "synthetic_membership": lambda schema: synthetic_membership(
        ROWS, members=ROWS, non_members=ROWS, schema=schema
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_an_open_unit_is_refused_before_a_row_is_read(door: str) -> None:
    """With the candidates and both ways out."""
    with pytest.raises(ParameterError, match="unit must be confirmed") as refused:
        DOORS[door](OPEN)
    said = str(refused.value)
    for part in (
        "patient_id, visit",
        'unit = "row"',
        "--unit row",
        "--unit patient_id:N",
        'with_unit("row")',
    ):
        assert part in said


def test_every_public_function_that_takes_a_schema_is_a_door_or_says_why_not() -> None:
    """A new one must be tried above, or be listed here: it reads no row and spends nothing."""
    import inspect
    from importlib import import_module

    silent = {
        "Batch",
        "Table",
        "EngineStore.open",
        "EngineStore.reference",  # made with a table that was opened
        "Order.admit",  # asked by a table that was opened
        "Workload.check",
        "Workload.marginals",
        "Workload.size",
        "Zeros.in_order",
        "Zeros.of_labels",  # declarations
    }
    found = set()
    for room in ("data", "learn", "synth", "attack", "audit", "dossier", "plan", "release", "testing"):
        module = import_module(f"holdfast.{room}")
        for name in (one for one in dir(module) if not one.startswith("_")):
            thing = getattr(module, name)
            calls = {name: thing}
            if inspect.isclass(thing):
                calls = {
                    f"{name}.{one}": getattr(thing, one) for one in dir(thing) if not one.startswith("_")
                }
                calls[name] = thing
            for called, function in calls.items():
                try:
                    parameters = inspect.signature(function).parameters.values()
                except (TypeError, ValueError):
                    continue
                if any(
                    one.name == "schema" or str(one.annotation).startswith("Schema") for one in parameters
                ):
                    found.add(called)
    tried = {door.partition(".fit")[0].partition(".transform")[0] for door in DOORS}
    doors = {one for one in found if one.split(".")[0] in tried or one in DOORS}
    assert found - doors <= silent, sorted(found - doors - silent)


# Commands, files and what is said.


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    coins = random.Random(5)
    rows = 400
    lines = ["patient_id,age,ill"]
    people = identifiers("texts", 90, rows, coins)
    lines += [f"{who},{coins.randint(20, 80)},{coins.choice(['no', 'yes'])}" for who in people]
    (tmp_path / "c.csv").write_text("\n".join(lines))
    (tmp_path / "s.toml").write_text(draft_of(str(tmp_path / "c.csv"), target="ill").to_toml())
    with Ledger.create(tmp_path / "b.db", purpose="trial", approver="nobody") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(4.0, 1e-5))
    (tmp_path / "plan.toml").write_text(
        '[plan]\nledger = "b.db"\ndataset = "clinic"\nsource = "c.csv"\nschema = "s.toml"\n'
        '[[step]]\ndo = "fit"\nname = "m"\ntarget = "ill"\nepsilon = 1.0\noutput = "m.holdfast"\n'
    )
    return tmp_path


COMMANDS = {
    "fit": "fit c.csv --schema s.toml --target ill --epsilon 1 -o m.holdfast",
    "fit from a ledger": "fit c.csv --schema s.toml --target ill --ledger b.db --dataset clinic -o m.holdfast",
    "synth": "synth c.csv --schema s.toml --epsilon 1 -o r.csv",
    "synth --estimate": "synth c.csv --schema s.toml --epsilon 1 --estimate",
    "run": "run plan.toml",
    "recommend": "recommend s.toml --target ill --rows 400",
    "plan": "plan --synth --schema s.toml --rows 400",
    "plan --public-data": "plan --public-data c.csv --schema s.toml --target ill",
    "compare": "compare --data c.csv --schema s.toml --target ill --methods output",
    "evaluate": "evaluate c.csv --against c.csv --schema s.toml",
    "attack disclosure": "attack disclosure c.csv --schema s.toml --members c.csv --control c.csv",
    "ledger init": "ledger init new.db --dataset d --epsilon 1 --schema s.toml",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_an_open_unit_and_spend_nothing(
    command: str, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clinic)
    before, files = (clinic / "b.db").read_bytes(), sorted(clinic.iterdir())
    done = CliRunner().invoke(app, COMMANDS[command].split())
    assert done.exit_code == 2, done.output
    assert "patient_id" in done.output
    assert "--unit row" in done.output
    assert (clinic / "b.db").read_bytes() == before
    assert [one for one in sorted(clinic.iterdir()) if one.suffix != ".lock"] == files


@pytest.mark.filterwarnings("ignore::holdfast.errors.AssumptionWarning")
@pytest.mark.parametrize("unit", ["row", "patient_id:7"])
def test_the_option_confirms_or_denies(unit: str, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clinic)
    done = CliRunner().invoke(
        app, [*"synth c.csv --schema s.toml --epsilon 1 --estimate --unit".split(), unit]
    )
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(app, [*"recommend s.toml --target ill --rows 9 --unit".split(), "patient_id"])
    assert (wrong.exit_code, "COLUMN:ROWS" in wrong.output) == (2, True)


def test_the_option_cannot_change_what_is_declared(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An analyst does not overrule the officer's schema."""
    monkeypatch.chdir(clinic)
    Schema.load("s.toml").with_unit("patient_id", max_rows=5).save("s.toml", overwrite=True)
    asked = "recommend s.toml --target ill --rows 9 --unit".split()
    assert "contradicts the schema" in CliRunner().invoke(app, [*asked, "row"]).output
    assert "contradicts the schema" in CliRunner().invoke(app, [*asked, "patient_id:50"]).output
    assert CliRunner().invoke(app, [*asked, "patient_id:5"]).exit_code == 0


def edited(draft: Draft, line: str) -> Schema:
    """The file, its table [unit] replaced by this line as the comments ask for."""
    lines = draft.to_toml().splitlines()
    place = lines.index("[unit]")
    end = lines.index("", place)
    return Schema.from_dict(tomllib.loads("\n".join([*lines[:place], line, *lines[end:]])))


def visits(most: int) -> dict[str, list[Any]]:
    """People with three visits each, of whom the first has so many."""
    people = [f"P{place:04d}" for place in range(80) for _ in range(most if place == 0 else 3)]
    return {"patient_id": people, "ward": [("A", "B")[place % 2] for place in range(len(people))]}


def test_the_file_confirms_or_denies() -> None:
    draft = draft_of(visits(9))
    assert edited(draft, 'unit = "row"') == draft.schema.with_unit("row")
    said = edited(draft, 'unit = { column = "patient_id", max_rows = 4 }')
    assert said == draft.schema.with_unit("patient_id", max_rows=4)
    assert said.unit == PrivacyUnit.user("patient_id", max_rows=4)
    # The line that the draft offers holds a number of the data, and says so.
    offered = next(
        line[2:].strip() for line in draft.to_toml().splitlines() if "taken_from_data = true }" in line
    )
    marked = edited(draft, offered)
    assert marked.unit == PrivacyUnit.user("patient_id", max_rows=5)
    assert any(
        "max_rows = 5 of the unit patient_id was taken from the data" in one.text
        for one in marked.assumptions
    )


@pytest.mark.parametrize(
    "line",
    [
        'unit = "person"',
        "unit = { confirmed = true }",
        'unit = { confirmed = false, column = "patient_id", max_rows = 4 }',
        'unit = { confirmed = true, column = "patient_id", max_rows = 4 }',
        'unit = { column = "patient_id" }',
        'unit = { column = "patient_id", max_rows = 0 }',
        'unit = { column = "ward", max_rows = 4 }',
        'unit = { column = "patient_id", max_rows = 4, taken_from_data = "no" }',
        'unit = { confirmed = false, candidates = "patient_id" }',
        "unit = 3",
    ],
)
def test_half_an_answer_is_none(line: str) -> None:
    with pytest.raises(FormatError):
        edited(draft_of(visits(9)), line)


def test_nothing_of_the_values_stays_in_a_confirmed_schema() -> None:
    """One person's rows move the numbers in the comments, and nothing of what is declared once a person said it."""
    few, many = draft_of(visits(3)), draft_of(visits(9))
    assert few.to_toml() != many.to_toml()
    assert few.schema == many.schema
    assert (
        few.schema.with_unit("patient_id", max_rows=4).hash()
        == many.schema.with_unit("patient_id", max_rows=4).hash()
    )


def test_a_column_that_was_something_else_becomes_an_identifier() -> None:
    schema = Schema([Numeric("age", 0, 100), Categorical("ward", ["A", "B"])])
    said = schema.with_unit("ward", max_rows=3)
    assert (said.identifiers, said.names, said.no_features) == (
        ("ward",),
        ("age",),
        "no features, because they are identifiers: ward",
    )
    with pytest.raises(ParameterError, match="max_rows must be"):
        schema.with_unit("ward")
    with pytest.raises(ParameterError, match="a column of the schema"):
        schema.with_unit("nobody", max_rows=3)


@pytest.mark.filterwarnings("ignore::holdfast.errors.AssumptionWarning")
@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_what_was_taken_from_the_data_stands_first() -> None:
    """In summaries of synthetic rows and of their release, before anything of their errors."""
    frame = {"age": [20, 30, 40, 50] * 100, "ward": ["A", "B"] * 200}
    made = Synthesizer(2.0, 1e-6, method="independent", random_state=1).fit(frame, draft_of(frame).schema)
    for summary in (made.summary(), made.release_.summary()):
        first = "\n".join(summary.splitlines()[:6])
        assert "bounds of age were taken from the data" in first
        assert "categories of ward were taken from the data" in first
        assert "that each row is about another person was guessed from the data" in first


def test_an_identifier_by_its_values_is_a_candidate_only_if_they_were_given_out() -> None:
    """Of columns whose name says nothing: words that repeat name nobody, and neither does a number of something."""
    owned = np.array([3] * 40)
    words = [f"{first} {second}" for first in ("red", "blue", "green", "grey") for second in "abcdefghij"]
    numbers = [f"K{number:06d}" for number in range(40)]
    for name, values, named in (
        ("remark", words, False),
        ("remark", numbers, True),
        ("patient_age", numbers, False),
    ):
        evidence = UnitEvidence(column=Identifier(name), owned=owned, values=values)
        assert (UnitCandidate.of(evidence) is not None) is named, name
