"""What a certificate claims follows from the noise that was paid for and kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.data import Categorical, Numeric, Schema
from holdfast.dossier._verification.certificates import check_certificates
from holdfast.dossier._verification.findings import Findings
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP, PureDP
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Release
from holdfast.synth import Synthesizer
from holdfast.synth._workload import Workload

pytestmark = pytest.mark.slow
PAIRS = [("age", "ill"), ("ill", "ward"), ("age", "ward")]
SCHEMA: list[Numeric | Categorical] = [
    Numeric("age", 0, 100, bins=4),
    Categorical("ill", ["no", "yes"]),
    Categorical("ward", ["a", "b", "c"]),
]


def certified(
    folder: Path, limit: PrivacyCurve, currency: str, adjacency: str, method: str = "independent"
) -> tuple[Path, Release[Any]]:
    """A synthetic table that a ledger paid for."""
    draw = np.random.default_rng(0)
    frame = {
        "age": draw.integers(0, 100, 400),
        "ill": draw.choice(["no", "yes"], 400),
        "ward": draw.choice(["a", "b", "c"], 400),
    }
    with Ledger.create(folder / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=limit, currency=currency, adjacency=adjacency)
        account = ledger.account("clinic", name="rows", limit=limit)
        made = Synthesizer(method=method, key="rows", workload=Workload.of(PAIRS)).fit(
            frame, Schema(SCHEMA, adjacency=adjacency), account=account
        )
    assert made.release_ is not None
    return folder / "ledger.db", made.release_


def problems(release: Release[Any], ledger: Path) -> tuple[list[str], list[str]]:
    found = Findings()
    with Ledger.open(ledger, read_only=True) as opened:
        check_certificates([release], opened, found)
    return found.problems, found.checked


@pytest.mark.parametrize(
    ("limit", "currency", "adjacency"),
    [
        (ApproxDP(4.0, 1e-6), "zcdp", "replace"),
        (PureDP(4.0), "pure", "add_remove"),
        (PureDP(4.0), "pure", "replace"),
    ],
)
def test_alphas_follow_from_what_the_ledger_keeps(
    tmp_path: Path, limit: PrivacyCurve, currency: str, adjacency: str
) -> None:
    ledger, release = certified(tmp_path, limit, currency, adjacency)
    wrong, held = problems(release, ledger)
    assert wrong == []
    assert any("alphas follow" in text for text in held)
    # Any claim that is changed shows, and so do claims that are dropped or divided by another number of rows.
    for place, claim in enumerate(release.certificates):
        other = [*release.certificates]
        other[place] = replace(claim, alpha=claim.alpha * 0.999 or 0.001)  # noise can make a claim 0
        assert problems(replace(release, certificates=tuple(other)), ledger)[0], claim.name
    key = "public_rows" if adjacency == "replace" else "counted"
    more = release.value["public_rows"]
    changed = (
        more + 1
        if key == "public_rows"
        else release.value[key] | {"value": release.value[key]["value"] + 1.0}
    )
    told = problems(replace(release, value=release.value | {key: changed}), ledger)[0]
    assert told
    assert any("another noisy number of rows" in text for text in told) == (key == "counted")
    # Groups enter claims of their own, and the number of queries that of the population.
    others = release.value | {"certified": release.value["certified"][1:]}
    assert any(
        "another number of groups" in text for text in problems(replace(release, value=others), ledger)[0]
    )
    # Where no group can be asked again nothing is claimed to have been checked.
    unknown = replace(release, value=release.value | {"certified": []})
    assert not any("alphas follow" in text for text in problems(unknown, ledger)[1])


def test_a_method_that_counted_rows_for_itself_is_not_mistaken_for_the_certificate(tmp_path: Path) -> None:
    """Where the number of rows is private there are two noisy ones, and alpha follows from the certificate's own."""
    ledger, release = certified(tmp_path, ApproxDP(4.0, 1e-6), "zcdp", "add_remove", method="adaptive")
    with Ledger.open(ledger, read_only=True) as opened:
        assert sum(entry.body.get("label") == "number of rows" for entry in opened.history()) == 2
    wrong, held = problems(release, ledger)
    assert wrong == []
    assert any("number of rows is the noisy one that the ledger keeps" in text for text in held)
