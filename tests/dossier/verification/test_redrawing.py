"""The independent verifier draws pages again, and computes every epsilon again: what its owner edits is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast._assumption import Assumption
from holdfast.data import Categorical, Numeric, Schema, open_table
from holdfast.dossier import Accuracy, Bars, Dossier, verify_dossier
from holdfast.dossier._page import record_of
from holdfast.dossier._renderer import renderer
from holdfast.errors import NotPrivateWarning
from holdfast.privacy import Account, ApproxDP, Laplace, PureDP
from holdfast.release import Release
from holdfast.statistics import Count, Mean, answer, by
from tests.dossier.dossier_samples import HOSTILE, FakeAttack, audit, counts, model
from tests.dossier.verification import forging
from tests.dossier.verification.forgeries import extracted, stranger
from tests.dossier.verification.forging import Case


def seeded() -> Release[Any]:
    """Noise that can be computed again, about people."""
    with pytest.warns(NotPrivateWarning):
        return counts(seed=1, user="patient")


def statistics() -> Release[Any]:
    """A mean of three groups, one of them empty."""
    rows = {"ward": ["a", "b"] * 200, "cost": [20, 60] * 200}
    schema = Schema(
        [Categorical("ward", ["a", "b", "empty"]), Numeric("cost", 0, 100)], adjacency="add_remove"
    )
    answers = answer(open_table(rows, schema), [Count(), by("ward", Mean("cost"), Count())], epsilon=1.0)
    release: Release[Any] = answers.release_
    return release


BARS = Bars(title="visits 2025", labels=("10 to 20", HOSTILE), counts=(5.25, 12345.0), error=2.0)
PAGES: dict[str, Callable[[], Dossier]] = {
    "public": lambda: Dossier(counts(), audits=[audit()], tables=[BARS], also_run=3),
    "internal": lambda: Dossier(
        counts(),
        attacks=[FakeAttack(attack="lira 2"), FakeAttack(attack=HOSTILE, state="warning")],
        audience="internal",
        title=f"Visits of 2025 {HOSTILE}",
        accuracy=[Accuracy(model="majority", score=0.7, rows=100)],
    ),
    "contradicted": lambda: Dossier(model(["age 1", HOSTILE]), audits=[audit(95)]),
    "seeded": lambda: Dossier(seeded()),
    "no intervals": lambda: Dossier(model([f"column_{k}" for k in range(40)], noise=None)),
    "statistics": lambda: Dossier(statistics()),
    "two": lambda: Dossier(
        [model(), counts(name="table 7", assumptions=[Assumption(kind="rows", text="at most 3 rows")])]
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_stranger_draws_every_kind_of_page_to_the_last_byte(name: str) -> None:
    page = PAGES[name]().html()
    assert stranger().drawn(record_of(page)) == page


def laplace(account: Account) -> Release[Any]:
    """Two counts with Laplace noise."""
    value = account.release(Laplace(scale=4.0, l1_sensitivity=1.0), [12.0, 30.0], key="visits")
    return Release.of(account, {"visits": value}, method="two noisy counts")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return forging.sound(tmp_path_factory.mktemp("sound"))


def judge(case: Case) -> Any:
    """What the stranger says of files whose owner closed and signed them."""
    extract = extracted(case, case.key, case.folder / "extract.json")
    assert extract is not None
    return stranger().verify(case.page, [case.release], extract, case.public, renderer=renderer())


@pytest.mark.parametrize(
    "make",
    [
        {"currency": "zcdp"},
        {"currency": "renyi"},
        {"make": laplace, "limit": PureDP(1.0), "currency": "pure"},
        {"make": laplace, "limit": ApproxDP(1.0, 1e-6), "currency": "basic"},
        {"adjacency": "add_remove"},
    ],
    ids=lambda make: "-".join(str(make.get(name, "")) for name in ("currency", "adjacency")),
)
def test_epsilons_are_computed_again_in_every_currency(make: dict[str, Any], tmp_path: Path) -> None:
    case = forging.sound(tmp_path / "case", **make)
    assert not judge(case).not_judged
    record = record_of(case.page.read_text(encoding="utf-8"))
    release = forging.release_tree(case)[0]
    for point in record["promise"]["points"]:
        shown = point["epsilon"]
        if shown:
            point["epsilon"] = shown * 0.999
            with pytest.raises(stranger().Wrong):
                stranger().check_promise(record, [release], stranger().require)
            point["epsilon"] = shown


Edit = Callable[[str], str]
EDITS: dict[str, Edit] = {
    "a number": lambda page: re.sub(r">[\d.]+ %</a> sure", ">50.6 %</a> sure", page, count=1),
    "a hidden section": lambda page: page.replace("<section aria", "<section hidden aria", 1),
    "a hidden warning": lambda page: page.replace(
        "<h3>What is not promised", "<h3 hidden>What is not promised"
    ),
    "a style": lambda page: page.replace("</style>", ".red{display:none}</style>"),
    "an attribute of style": lambda page: page.replace("<h1>", '<h1 style="color:#fff">'),
    "a script": lambda page: page.replace("</body>", "<script>alert(1)</script></body>"),
    "an image": lambda page: page.replace("</h1>", '</h1><img src="x.png">'),
    "a policy": lambda page: page.replace("default-src &#39;none&#39;", "default-src *"),
    "a comment": lambda page: page.replace("<main>", "<main><!-- approved -->"),
    "an added text": lambda page: page.replace("</main>", "<p>Certified.</p></main>"),
    "a space": lambda page: page.replace("</main>", " </main>"),
    "a curve": lambda page: re.sub(r'(<path class="line s0" d="M[\d.]+,)\d', r"\g<1>9", page, count=1),
    "a tag spelled otherwise": lambda page: page.replace("<h1>", "<H1>"),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_owner_writes_on_a_page_is_seen(name: str, sound: Case, tmp_path: Path) -> None:
    case = sound.copy(tmp_path / "copy")
    page = case.page.read_text(encoding="utf-8")
    assert EDITS[name](page) != page
    forging.reseal(case, EDITS[name](page))
    forging.close_again(case, key=case.key)
    with pytest.raises(stranger().Wrong, match="shows something else than its record"):
        judge(case)


def set_at(record: Any, place: str, value: Any) -> None:
    *path, last = [int(name) if name.isdigit() else name for name in place.split("/")]
    for name in path:
        record = record[name]
    record[last] = value


FIELDS: dict[str, Any] = {
    "promise/points/1/epsilon": 0.05,
    "promise/at/epsilon": 0.05,
    "promise/sure/loss": 0.1,
    "promise/sure/after/2/at_most": 0.506,
    "promise/guess": 0.501,
    "promise/curve": "PureDP(epsilon=0.01)",
    "promise/theorem": "pure DP, epsilon 0.01",
    "promise/unit": "one company",
    "promise/neighbours": "nothing is changed",
    "promise/strict": False,
    "promise/curve_points/series/0/delta/0": 0.001,
    "picture/linear/series/0/found/50": 0.26,
    "picture/rows/0/found/0": 0.001,
    "not_tested": [],
    "tried/0/contradiction": "none",
    "releases/0/theorem": "pure DP, epsilon 0.01",
}


@pytest.mark.parametrize("place", FIELDS)
def test_what_an_owner_writes_in_a_record_is_seen(place: str, sound: Case, tmp_path: Path) -> None:
    case = sound.copy(tmp_path / "copy")
    record = json.loads(json.dumps(record_of(case.page.read_text(encoding="utf-8"))))
    set_at(record, place, FIELDS[place])
    forging.redraw(case, record)
    forging.close_again(case, key=case.key)
    with pytest.raises(stranger().Wrong):
        judge(case)


# What `holdfast verify` says of values that an owner invents.


@pytest.mark.parametrize("name", ["visits", "mean"])
def test_a_value_that_is_not_the_noisy_one_is_not_judged(name: str, sound: Case, tmp_path: Path) -> None:
    case = sound.copy(tmp_path / "copy")
    untouched = verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)
    assert untouched.ok
    assert any(f"{name} is the noisy value that the ledger keeps" in line for line in untouched.checked)
    release = Release.load(case.release)
    value = {**release.value, name: release.value[name] + 1.0}
    case.release.write_bytes(replace(release, value=value).file_bytes())
    forging.redraw_about(case)
    forging.close_again(case, key=case.key)
    forged = verify_dossier(case.page, releases=[case.release], ledger=case.ledger, public_key=case.public)
    assert not forged.ok
    assert any(f"{name} is not the noisy value" in line for line in forged.skipped)
