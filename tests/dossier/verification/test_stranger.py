"""The verifier that shares no line with holdfast, and the public challenge."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from runpy import run_path
from typing import Any

import docs.make_tables as tables
import pytest

import holdfast
from holdfast.dossier import Dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._record import FORMAT, Record
from holdfast.dossier._renderer import package_hash, renderer
from holdfast.dossier._verification import versions
from holdfast.dossier._verification.versions import PageMaker
from holdfast.errors import FormatError
from tests.dossier.dossier_samples import audit, counts, model
from tests.dossier.verification import forging
from tests.dossier.verification.forgeries import extracted, passes_stranger, stranger
from tests.dossier.verification.forging import FORGED_MAKERS, LATER, Case, relabel
from tests.paths import ROOT

VERIFIER = ROOT / "verifier" / "holdfast_verify.py"
MODULES = sorted(VERIFIER.parent.glob("*.py"))


def test_it_needs_nothing_but_the_standard_library_and_a_signature_package() -> None:
    named = {
        name.split(".")[0]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
        )
    }
    assert named <= set(sys.stdlib_module_names) | {"cryptography"} | {path.stem for path in MODULES}


def test_it_ships_the_template_of_the_package() -> None:
    make = run_path(str(ROOT / "docs" / "make_verifier.py"))
    assert json.loads(make["SHIPPED"].read_text(encoding="utf-8")) == make["content"]()


def test_a_stranger_finds_what_is_sound_sound(tmp_path: Path) -> None:
    case = forging.sound(tmp_path / "sound")
    extract = extracted(case, case.key, tmp_path / "extract.json")
    assert extract is not None
    found = stranger().verify(case.page, [case.release], extract, case.public, renderer=renderer())
    assert any("closed by the ledger as entry" in line for line in found.holds)
    assert not found.not_judged
    data = json.loads(extract.read_text(encoding="utf-8"))
    data["entries"] = data["entries"][:-1]
    extract.write_text(json.dumps(data), encoding="utf-8")
    assert not passes_stranger(case, extract)  # an entry left out


@pytest.mark.slow
def test_ours_scores_twenty() -> None:
    """The committed challenge: half of it sound, and the independent verifier tells all of it."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "studies" / "challenge" / "score.py"), "--ours"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "20 of 20\n", done.stderr
    answers = json.loads((ROOT / "studies" / "challenge" / "answers.json").read_text(encoding="utf-8"))
    assert sorted(answers.values()) == ["forged"] * 10 + ["sound"] * 10


def test_the_challenge_is_small_and_whole() -> None:
    with zipfile.ZipFile(ROOT / "studies" / "challenge" / "cases.zip") as packed:
        names = {Path(name).parts for name in packed.namelist()}
    assert names == {
        (f"{number:02d}", part)
        for number in range(1, 21)
        for part in ("page.html", "release.holdfast", "extract.json")
    }
    assert (ROOT / "studies" / "challenge" / "cases.zip").stat().st_size < 2**20


# Pages that say of their maker what is not so: the stranger says what `holdfast verify` does (test_versions.py).


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def case(made: Case, tmp_path: Path) -> Case:
    return made.copy(tmp_path / "copy")


def judged_by_a_stranger(case: Case, *, known: bool = True) -> tuple[int, str]:
    """Exit code and first line of the independent verifier."""
    extract = extracted(case, case.key, case.folder / "extract.json")
    assert extract is not None
    command = [sys.executable, ROOT / "verifier" / "holdfast_verify.py", case.page, "--release", case.release]
    command += ["--extract", extract, "--public-key", case.public]
    command += ["--renderer", str(files("holdfast"))] if known else []
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[0]


def test_what_is_sound_ends_well(case: Case) -> None:
    assert judged_by_a_stranger(case)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("forgery", FORGED_MAKERS)
def test_what_no_version_makes_is_wrong(case: Case, forgery: str) -> None:
    relabel(case, **FORGED_MAKERS[forgery])
    code, line = judged_by_a_stranger(case)
    assert (code, line.partition(":")[0]) == (1, "WRONG")


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, {"renderer": "0" * 64}, {"format": "holdfast-dossier/2"}])
def test_a_page_of_another_version_is_not_judged(case: Case, fields: dict[str, Any]) -> None:
    relabel(case, holdfast=LATER, **fields)
    code, line = judged_by_a_stranger(case)
    assert code == 3
    assert line.startswith(f"NOT JUDGED: the verifier of holdfast {LATER} can judge this page")


@pytest.mark.slow
@pytest.mark.parametrize("form", [FORMAT, "holdfast-dossier/2"])
def test_a_later_version_hides_nothing_that_is_forged(case: Case, form: str) -> None:
    record = record_of(case.page.read_text(encoding="utf-8"))
    record["promise"]["points"][1]["epsilon"] = 0.01
    relabel(case, holdfast=LATER, format=form, promise=record["promise"])
    assert judged_by_a_stranger(case)[0] == (1 if form == FORMAT else 3)
    tree, members = forging.release_tree(case)
    tree["provenance"]["method"] = "something better"
    forging.rewrite_release(case, tree, members)
    assert judged_by_a_stranger(case)[0] == 1


def test_a_stranger_who_does_not_know_the_renderer_is_told_what_it_takes(case: Case) -> None:
    code, line = judged_by_a_stranger(case, known=False)
    assert code == 3
    assert line.startswith(
        f"NOT JUDGED: give --renderer: the hash of the renderer of holdfast {holdfast.__version__}"
    )


def test_the_stranger_belongs_to_this_version() -> None:
    own = stranger()
    assert (own.VERSION, own.PAGE_FORMAT) == (holdfast.__version__, FORMAT)
    known = {name: PageMaker(format=f, renderer=r) for name, (f, r) in own.PUBLISHED.items()}
    assert known.items() >= versions.PUBLISHED.items()


# The fields of a record.


def parts(tree: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every mapping of a record that is a part of it; of parts in a list the first."""
    if isinstance(tree, dict):
        if ".".join(name for name in place if isinstance(name, str)) in stranger().RECORD:
            yield place
        for name, value in tree.items():
            yield from parts(value, (*place, name))
    elif isinstance(tree, list) and tree:
        yield from parts(tree[0], (*place, 0))


def at(tree: Any, place: tuple[str | int, ...]) -> Any:
    for name in place:
        tree = tree[name]
    return tree


def both_refuse(record: Any) -> None:
    with pytest.raises(FormatError):
        Record.from_json(record)
    with pytest.raises(stranger().Wrong):
        stranger().require_whole(record)


def records() -> dict[str, Callable[[Path], Any]]:
    return {
        "paid": lambda folder: record_of(forging.sound(folder / "s").page.read_text(encoding="utf-8")),
        "two": lambda _: Dossier([model(), counts()], audits=[audit()]).to_json(),
    }


@pytest.mark.parametrize("name", records())
def test_a_record_has_all_fields_and_no_others(name: str, tmp_path: Path) -> None:
    record = records()[name](tmp_path)
    record = json.loads(json.dumps(record))
    Record.from_json(record)
    stranger().require_whole(record)
    places = list(parts(record))
    assert len(places) > 15
    for place in places:
        part = at(record, place)
        for field, value in list(part.items()):
            del part[field]
            both_refuse(record)
            part[field] = value
        part["more"] = 1
        both_refuse(record)
        del part["more"]
    assert Record.from_json(record)


def test_the_stranger_knows_the_fields_that_the_documentation_lists() -> None:
    assert stranger().RECORD == tables.record_fields()


def test_a_stranger_computes_the_renderer_from_a_folder_or_a_wheel(tmp_path: Path) -> None:
    there = forging.package(tmp_path)
    (there / "__pycache__").mkdir()
    (there / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    assert stranger().renderer_of(str(there)) == package_hash(there)
    with zipfile.ZipFile(tmp_path / "holdfast.whl", "w") as wheel:
        for path in sorted(there.rglob("*"), reverse=True):
            wheel.write(path, f"holdfast/{path.relative_to(there)}")
        wheel.writestr("holdfast-0.1.0.dist-info/METADATA", "Name: holdfast")
    assert stranger().renderer_of(str(tmp_path / "holdfast.whl")) == package_hash(there)
    assert stranger().renderer_of(str(files("holdfast"))) == renderer()
    assert stranger().renderer_of("a" * 64) == "a" * 64
