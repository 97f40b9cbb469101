"""Pages that say of their maker what is not so: version, format, renderer, fields. Both verifiers say the same.

The forger is the owner, who holds ledger and key and closes and signs what he forged: nothing but what the page says of
itself stands against him.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from unittest.mock import patch

import docs.make_tables as tables
import pytest
from click.testing import CliRunner

import holdfast
from holdfast._cli.app import app
from holdfast.dossier import Dossier, DossierVerification, verify_dossier
from holdfast.dossier._page import record_of, render
from holdfast.dossier._record import FORMAT, Record
from holdfast.dossier._renderer import package_hash, renderer
from holdfast.dossier._verification import versions
from holdfast.dossier._verification.versions import Origin, PageMaker
from holdfast.errors import FormatError
from tests.dossier.dossier_samples import audit, counts, model
from tests.dossier.verification import forging
from tests.dossier.verification.forgeries import extracted, stranger
from tests.dossier.verification.forging import Case
from tests.paths import ROOT

LATER = "1000.0.0"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def case(made: Case, tmp_path: Path) -> Case:
    return made.copy(tmp_path / "copy")


def relabel(case: Case, **fields: Any) -> None:
    """Write other fields into the embedded record, and seal, close and sign the page again."""
    text = case.page.read_text(encoding="utf-8")
    block = re.findall(r'holdfast-record">(.*?)</script>', text, flags=re.S)[0]
    record = json.loads(block)
    forged = {name: value for name, value in (record | fields).items() if value is not ...}
    forging.reseal(case, text.replace(block, json.dumps(forged).replace("<", "\\u003c")))
    forging.close_again(case, key=case.key)


def judged(case: Case) -> DossierVerification:
    return verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)


def judged_by_a_stranger(case: Case, *, known: bool = True) -> tuple[int, str]:
    """Exit code and first line of the independent verifier."""
    extract = extracted(case, case.key, case.folder / "extract.json")
    assert extract is not None
    command = [sys.executable, ROOT / "verifier" / "holdfast_verify.py", case.page, "--release", case.release]
    command += ["--extract", extract, "--public-key", case.public]
    command += ["--renderer", str(files("holdfast"))] if known else []
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[0]


def test_what_is_sound_is_ok_to_both(case: Case) -> None:
    assert judged(case).verdict == "ok"
    assert judged_by_a_stranger(case)[0] == 0


WRONG: dict[str, dict[str, Any]] = {
    "format 0": {"format": "holdfast-dossier/0"},
    "format 2": {"format": "holdfast-dossier/2"},
    "format 3": {"format": "holdfast-dossier/3"},
    "another family": {"format": "holdfast-release/1"},
    "no format": {"format": ...},
    "format null": {"format": None},
    "another renderer": {"renderer": "0" * 64},
    "no hash": {"renderer": "the one of holdfast"},
    "no renderer": {"renderer": ...},
    "an earlier version": {"holdfast": "0.0.1"},
    "an earlier version and format": {"holdfast": "0.0.9", "format": "holdfast-dossier/3"},
    "a version in the making": {"holdfast": "1000.0.0.dev0"},
    "half a number": {"holdfast": "1000.0"},
    "another spelling": {"holdfast": "01000.0.0"},
    "no number": {"holdfast": "the newest"},
    "no version": {"holdfast": ...},
    "a later version without a format": {"holdfast": LATER, "format": "holdfast-dossier/0"},
    "a later version without a renderer": {"holdfast": LATER, "renderer": "none"},
    "an unknown field": {"certified": "by nobody"},
    "a later version and an unknown field": {"holdfast": LATER, "certified": "by nobody"},
    "a missing field": {"doubts": ...},
    "a later version and a missing field": {"holdfast": LATER, "not_tested": ...},
}


@pytest.mark.slow
@pytest.mark.parametrize("forgery", WRONG)
def test_what_no_version_makes_is_wrong(case: Case, forgery: str) -> None:
    relabel(case, **WRONG[forgery])
    found = judged(case)
    assert found.verdict == "wrong", found.summary()
    assert found.exit_code == 1
    code, line = judged_by_a_stranger(case)
    assert (code, line.partition(":")[0]) == (1, "WRONG")


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, {"renderer": "0" * 64}, {"format": "holdfast-dossier/2"}])
def test_a_page_of_another_version_is_not_judged(case: Case, fields: dict[str, Any]) -> None:
    relabel(case, holdfast=LATER, **fields)
    asked = ["verify", case.page, "--release", case.release, "--ledger", case.ledger]
    shown = CliRunner().invoke(app, [str(one) for one in asked])
    assert shown.exit_code == 3
    assert shown.stdout.startswith(f"NOT JUDGED: holdfast {LATER} can judge this page")
    found = judged(case)
    assert (found.verdict, found.judge, found.to_json()["judge"]) == ("not judged", LATER, LATER)
    # Its record is checked all the same where its format is known, and release and ledger always are.
    assert ("promise: as its sources say" in found.checked) == ("format" not in fields)
    assert any("the guarantee is the account's" in text for text in found.checked)
    assert any("the page: the ledger closed it" in text for text in found.checked)
    code, line = judged_by_a_stranger(case)
    assert code == 3
    assert line.startswith(f"NOT JUDGED: the verifier of holdfast {LATER} can judge this page")


@pytest.mark.slow
def test_a_later_version_hides_no_forged_record(case: Case) -> None:
    record = record_of(case.page.read_text(encoding="utf-8"))
    record["promise"]["points"][1]["epsilon"] = 0.01
    relabel(case, holdfast=LATER, promise=record["promise"])
    assert any(text.startswith("promise: ") for text in judged(case).problems)
    assert judged_by_a_stranger(case)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", [FORMAT, "holdfast-dossier/2"])
def test_a_later_version_hides_no_forged_release(case: Case, form: str) -> None:
    relabel(case, holdfast=LATER, format=form)
    record, members = forging.release_tree(case)
    record["provenance"]["method"] = "something better"
    forging.rewrite_release(case, record, members)
    assert judged(case).verdict == "wrong"
    assert judged_by_a_stranger(case)[0] == 1


def test_a_stranger_who_does_not_know_the_renderer_is_told_what_it_takes(case: Case) -> None:
    code, line = judged_by_a_stranger(case, known=False)
    assert code == 3
    assert line.startswith(
        f"NOT JUDGED: give --renderer: the hash of the renderer of holdfast {holdfast.__version__}"
    )


# What is known of versions.


@contextmanager
def version(number: str, **published: PageMaker) -> Iterator[None]:
    """Be this version, after others were published: `v0_1_0` stands for 0.1.0."""
    known = {name[1:].replace("_", "."): maker for name, maker in published.items()}
    with patch.object(holdfast, "__version__", number), patch.object(versions, "PUBLISHED", known):
        yield


@pytest.mark.parametrize("own", ["0.2.0", "0.2.0.dev0"])
def test_a_published_version_makes_one_format_with_one_renderer(own: str) -> None:
    first = PageMaker(format="holdfast-dossier/1", renderer="a" * 64)
    page = {"holdfast": "0.1.0", "format": first.format, "renderer": first.renderer}
    with version(own, v0_1_0=first):
        origin = Origin.of(page)
        assert (origin.version, origin.is_own, origin.problems) == ("0.1.0", False, ())
        assert Origin.of(page | {"format": "holdfast-dossier/2"}).problems
        assert Origin.of(page | {"renderer": "b" * 64}).problems
        assert Origin.of(page | {"holdfast": "0.1.1"}).problems
        own_page = {"holdfast": own, "format": FORMAT, "renderer": renderer()}
        assert Origin.of(own_page).is_own
        assert Origin.of(own_page | {"renderer": first.renderer}).problems
        # Of one in the making its own number is one to come.
        final = Origin.of(page | {"holdfast": "0.2.0", "renderer": "b" * 64})
        assert bool(final.problems) == (own == "0.2.0")


def test_every_version_of_the_changelog_before_this_one_is_known() -> None:
    """CONTRIBUTING, Releasing: what a version made pages with is noted when the next one is begun."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.M)) - {holdfast.__version__}
    assert set(versions.PUBLISHED) == listed
    own = stranger()
    assert (own.VERSION, own.PAGE_FORMAT) == (holdfast.__version__, FORMAT)
    assert {name: PageMaker(format=f, renderer=r) for name, (f, r) in own.PUBLISHED.items()}.items() >= (
        versions.PUBLISHED.items()
    )


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


# The renderer.


def test_the_renderer_is_a_hash_of_every_file_of_the_package() -> None:
    """As anybody can make it, with the tool of that name; the list of files is that of the folder itself."""
    package = ROOT / "src" / "holdfast"
    found = {
        path.relative_to(package.parent).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd", ".dylib")
    }
    assert len(found) > 500
    assert "holdfast/dossier/_section.py" in found
    lines = "".join(f"{found[name]}  {name}\n" for name in sorted(found))
    assert renderer() == hashlib.sha256(lines.encode()).hexdigest()


def package(folder: Path) -> Path:
    """A small package with all kinds of files."""
    for name in ("a.py", "dossier/_section.py", "dossier/_templates/page.html.j2", "data/x.parquet"):
        (folder / "holdfast" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "holdfast" / name).write_text(name)
    return folder / "holdfast"


def test_no_file_of_the_package_can_change_or_come_or_go_without_another_renderer(tmp_path: Path) -> None:
    there = package(tmp_path)
    before = package_hash(there)
    for path in [*there.rglob("*.*"), there / "dossier" / "_new.py", there / "dossier" / "more.txt"]:
        kept = path.read_text() if path.exists() else None
        path.write_text("other")
        assert package_hash(there) != before, path
        path.unlink()
        assert (package_hash(there) == before) == (kept is None)
        if kept is not None:
            path.write_text(kept)
            moved = path.rename(path.with_name("moved.py"))
            assert package_hash(there) != before, path
            moved.rename(path)
    (there / "__pycache__").mkdir()
    (there / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    (there / "_kernel.abi3.so").write_bytes(b"x")
    assert package_hash(there) == before


def test_a_stranger_computes_the_renderer_from_a_folder_or_a_wheel(tmp_path: Path) -> None:
    there = package(tmp_path)
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


def test_a_page_that_its_own_renderer_drew_is_its_drawing_and_no_other(case: Case) -> None:
    """A page that is drawn again from an edited record names this renderer, and its sources speak against it."""
    record = record_of(case.page.read_text(encoding="utf-8"))
    case.page.write_text(render(Record.from_json(record | {"title": "Better"})), encoding="utf-8")
    assert verify_dossier(case.page, releases=[case.release], ledger=case.ledger).verdict == "wrong"
