"""Pages that say of their maker what is not so: version, format, renderer, fields. The stranger says the same.

The forger is the owner, who holds ledger and key and closes and signs what he forged: nothing but what the page says of
itself stands against him.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

import holdfast
from holdfast._cli.app import app
from holdfast.dossier import DossierVerification, verify_dossier
from holdfast.dossier._page import record_of, render
from holdfast.dossier._record import FORMAT, Record
from holdfast.dossier._renderer import package_hash, renderer
from holdfast.dossier._verification import versions
from holdfast.dossier._verification.versions import Origin, PageMaker
from tests.dossier.verification import forging
from tests.dossier.verification.forging import FORGED_MAKERS, LATER, Case, relabel
from tests.paths import ROOT


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def case(made: Case, tmp_path: Path) -> Case:
    return made.copy(tmp_path / "copy")


def judged(case: Case) -> DossierVerification:
    return verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)


def test_what_is_sound_is_ok(case: Case) -> None:
    assert judged(case).verdict == "ok"


@pytest.mark.parametrize("forgery", FORGED_MAKERS)
def test_what_no_version_makes_is_wrong(case: Case, forgery: str) -> None:
    relabel(case, **FORGED_MAKERS[forgery])
    found = judged(case)
    assert found.verdict == "wrong", found.summary()
    assert found.exit_code == 1


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


def test_a_later_version_hides_no_forged_record(case: Case) -> None:
    record = record_of(case.page.read_text(encoding="utf-8"))
    record["promise"]["points"][1]["epsilon"] = 0.01
    relabel(case, holdfast=LATER, promise=record["promise"])
    assert any(text.startswith("promise: ") for text in judged(case).problems)


@pytest.mark.parametrize("form", [FORMAT, "holdfast-dossier/2"])
def test_a_later_version_hides_no_forged_release(case: Case, form: str) -> None:
    relabel(case, holdfast=LATER, format=form)
    record, members = forging.release_tree(case)
    record["provenance"]["method"] = "something better"
    forging.rewrite_release(case, record, members)
    assert judged(case).verdict == "wrong"


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


def test_no_file_of_the_package_can_change_or_come_or_go_without_another_renderer(tmp_path: Path) -> None:
    there = forging.package(tmp_path)
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


def test_a_page_that_its_own_renderer_drew_is_its_drawing_and_no_other(case: Case) -> None:
    """A page that is drawn again from an edited record names this renderer, and its sources speak against it."""
    record = record_of(case.page.read_text(encoding="utf-8"))
    case.page.write_text(render(Record.from_json(record | {"title": "Better"})), encoding="utf-8")
    assert verify_dossier(case.page, releases=[case.release], ledger=case.ledger).verdict == "wrong"
