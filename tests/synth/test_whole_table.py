"""Claims about the whole table where rows were left out (soundness, section 23): its numbers, and what they cost."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.data import Categorical, Identifier, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import ZCDP, Account, ApproxDP, PrivacyUnit, PureDP
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.synth import CertificateRequest, Synthesizer, Workload
from holdfast.synth._certificate import certificate_noise, offset
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._whole_table import USERS, WHOLE, certify_whole, share_left_out, user_shift
from tests.studies.size import Study, trials

pytestmark = pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")


def visits(owned: NDArray[np.int64], values: NDArray[np.int64]) -> dict[str, Any]:
    """Rows of users who own so many each."""
    return {"who": np.repeat(np.arange(len(owned)), owned).astype(str), "ill": values}


def schema_of(max_rows: int, **declared: Any) -> Schema:
    unit = PrivacyUnit.user("who", max_rows=max_rows)
    return Schema([Identifier("who"), Categorical("ill", [0, 1])], unit=unit, **declared)


# The numbers of the notes.


def test_nine_hundred_users_with_one_row_and_a_hundred_with_fifty() -> None:
    owned = np.repeat([1, 50], [900, 100])
    frame = visits(owned, np.repeat([0, 1], [900, 5000]))
    table = open_table(frame, schema_of(1))
    whole = float(np.mean(frame["ill"]))
    kept = float(table.counts([["ill"]])[0][1] / table.count())
    assert round(whole, 5) == 0.84746
    assert kept == 0.1
    share = share_left_out(table.beyond(50), table.count())
    assert round(share, 5) == 0.83051
    assert round(whole - kept, 5) == 0.74746 <= share
    # In the mean over users nothing moved at all, and K / U allows 0.1.
    assert user_shift(table.beyond(2), table.units(), queries=1, failure=1e-300) == 0.1


def upper(exact: float, reach: float, *, sign: int = 1) -> float:
    """With epsilon 1/2 and a failure probability of 0.025, where no noise happened to be drawn."""
    mechanism = Laplace(scale=reach / 0.5, l1_sensitivity=reach)
    return exact + sign * offset(mechanism, math.sqrt(2) * reach / 0.5, failure=0.025)


def test_ten_thousand_users() -> None:
    cut, beyond, kept, users = 150, 1_800, 45_000, 10_000
    kept_low = upper(kept, 10, sign=-1)
    assert round(share_left_out(beyond, kept), 4) == 0.0385
    assert round(share_left_out(upper(beyond, 90), kept_low), 4) == 0.0495
    assert round(share_left_out(90 * upper(cut, 1), kept_low), 4) == 0.2380
    assert round(upper(cut, 1) / users, 4) == 0.0156
    assert round(user_shift(upper(cut, 1), users, queries=1, failure=1e-300), 4) == 0.0156
    assert round(user_shift(upper(cut, 1), users, queries=1_000, failure=0.025), 4) == 0.0030


def test_no_random_table_violates_a_bound(study: Study) -> None:
    """Shares of rows, shares of users, and intervals of a claim that holds for the kept rows."""
    rng = np.random.default_rng(0)
    runs = trials(20_000)
    for _ in range(runs):
        bound, users = int(rng.integers(1, 4)), int(rng.integers(1, 8))
        owned = rng.integers(1, 9, users)
        values = [rng.random(size) < rng.random() for size in owned]
        kept = [one[rng.permutation(len(one))[:bound]] for one in values]
        whole, left = np.concatenate(values).mean(), np.concatenate(kept).mean()
        beyond = int(np.maximum(owned - bound, 0).sum())
        share = share_left_out(beyond, len(np.concatenate(kept)))
        assert abs(whole - left) <= share + 1e-12
        cut = int((owned > bound).sum())
        by_user = [np.mean([one.mean() for one in rows]) for rows in (values, kept)]
        assert abs(by_user[0] - by_user[1]) <= cut / users + 1e-12
        answer = rng.random()
        alpha = abs(answer - left)
        low, high = max(0.0, answer - alpha), min(1.0, answer + alpha)
        assert (1 - share) * low - 1e-12 <= whole <= (1 - share) * high + share + 1e-12
    study.note(trials=runs, violations=0)


def test_where_nothing_may_be_left_nothing_is_claimed() -> None:
    assert share_left_out(5.0, 0.0) == share_left_out(0.0, -3.0) == 1.0
    assert share_left_out(-5.0, 10.0) == 0.0
    assert user_shift(1.0, 0.0, queries=1, failure=0.1) == 1.0
    assert user_shift(-1.0, 10.0, queries=1, failure=0.1) == 0.0


# What is released.


@given(
    owned=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    other=st.integers(0, 9),
    bound=st.integers(1, 3),
    more=st.integers(1, 5),
)
@settings(max_examples=100, deadline=None)
def test_one_user_moves_the_rows_beyond_by_the_cap_less_the_bound(
    owned: list[int], other: int, bound: int, more: int
) -> None:
    """Replaced, removed or added; and some user reaches it."""
    most = bound + more
    tables = [
        open_table(visits(np.array(sizes), np.zeros(sum(sizes), dtype=int)), schema_of(bound))
        for sizes in (owned, [other, *owned[1:]], [0, *owned[1:]], [most, *owned[1:]])
    ]
    found = [table.beyond(most) for table in tables]
    assert max(found) - min(found) <= more
    assert found[3] - found[2] == more


def released(rows: int) -> CodedRows:
    return CodedRows(domain={"ill": 2}, codes=np.arange(rows)[:, None] % 2)


def study_table(bound: int, **declared: Any) -> tuple[ExactCounts, float, float]:
    """Users of whom a few own many rows that are all ill; with the shares of all rows, and of users."""
    owned = np.where(np.arange(400) % 20 == 0, 12, 2)
    values = np.repeat((np.arange(400) % 20 == 0).astype(int), owned)
    data = ExactCounts(
        open_table(visits(owned, values), schema_of(bound, **declared), entropy=Source(seed=1))
    )
    return data, float(values.mean()), float(np.mean(np.arange(400) % 20 == 0))


WORKLOAD = Workload.of([("ill",)])
PROMISES = {
    "replace": {"adjacency": "replace"},
    "add_remove, declared": {"adjacency": "add_remove", "n_public": 400},
    "add_remove": {"adjacency": "add_remove"},
}


@pytest.mark.parametrize("declared", PROMISES.values(), ids=list(PROMISES))
def test_claims_about_the_whole_table_hold_as_often_as_they_say(
    declared: dict[str, Any], study: Study
) -> None:
    """A high failure probability, so that a bound that is too low would show; counted together."""
    data, rows, users = study_table(1, **declared)
    made, runs, failed = released(100), trials(600), 0
    estimates = made(["ill"]) / len(made)
    for seed in range(runs):
        account = Account(ZCDP(0.02), adjacency=data.adjacency, unit=data.unit, seed=seed)
        claims = certify_whole(
            data,
            made,
            WORKLOAD,
            account=account,
            confidence=0.6,
            request=CertificateRequest(user_cap=12, user_weights=True),
        )
        named = {claim.name: claim for claim in claims.whole}
        failed += (
            abs(float(estimates[1]) - rows) > named[WHOLE].alpha
            or abs(float(estimates[1]) - users) > named[USERS].alpha
        )
        assert (account.spent().as_zcdp() or 1) <= 0.02
    # 0.4 for what the two have in common, and a tenth of that for each.
    study.alarms(failed, rate=0.48, runs=runs, chance=1e-6)


def test_the_share_left_out_is_bounded_as_often_as_it_says(study: Study) -> None:
    """The bound itself, without the certificate's own slack."""
    data, _, _ = study_table(1)
    runs, failed = trials(1_500), 0
    truth = share_left_out(data.table.beyond(12), data.table.count())
    for seed in range(runs):
        account = Account(ZCDP(0.02), unit=data.unit, seed=seed)
        claims = certify_whole(
            data,
            released(10),
            WORKLOAD,
            account=account,
            confidence=0.51,
            request=CertificateRequest(user_cap=12),
        )
        failed += claims.whole[0].details["left_out"] < truth
    # A tenth of 0.49 of the runs, and with half of the sensitivity a fifth: n_B is known here, so nothing is to spare.
    assert failed > 0
    study.alarms(failed, rate=0.049, runs=runs, chance=1e-3)


@pytest.mark.parametrize("limit", [ApproxDP(1.0, 1e-9), PureDP(1.0)], ids=["delta", "pure"])
def test_charges_come_from_the_certificates_share(limit: Any) -> None:
    made = Synthesizer(
        epsilon=1.0,
        delta=0.0 if limit.as_pure() else 1e-9,
        method="independent",
        random_state=1,
        certificate=CertificateRequest(share=0.2, user_cap=50, user_weights=True),
    )
    account = Account(
        limit, unit=schema_of(1).confirmed_unit, currency="pure" if limit.as_pure() else "zcdp", seed=1
    )
    made.random_state = None
    owned = np.repeat([1, 50], [900, 100])
    made.fit(visits(owned, np.repeat([0, 1], [900, 5000])), schema_of(1), account=account)
    labels = [entry.charge.label for entry in account.journal.entries]
    assert labels[-2:] == ["rows beyond the bound", "users beyond the bound"]
    for entry, reach in zip(account.journal.entries[-2:], (49, 1), strict=True):
        declared = entry.charge.mechanism
        assert max(float(declared.get(name, 0)) for name in ("l1_sensitivity", "l2_sensitivity")) >= reach
    assert account.spent().delta(1.0) <= limit.delta(1.0)


# What is said.


def fitted(bound: int, cap: int | None, certified: Workload | None = None, **asked: Any) -> Synthesizer:
    owned = np.repeat([1, 50], [900, 100])
    return Synthesizer(
        epsilon=5.0,
        delta=1e-6,
        method="independent",
        certificate=CertificateRequest(user_cap=cap, workload=certified),
        random_state=1,
        **asked,
    ).fit(visits(owned, np.repeat([0, 1], [900, 5000])), schema_of(bound))


@pytest.mark.parametrize("bound", [1, 10])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_answers_cover_the_whole_table_where_that_was_paid_for(
    bound: int, adjacency: str, tmp_path: Path
) -> None:
    made = fitted(bound, 50, adjacency=adjacency)
    answers = made.answer()
    one = answers.groups[0]
    truth = np.array([900 / 5900, 5000 / 5900])
    assert one.source == "measurement"
    assert np.all((one.low <= truth) & (truth <= one.high))
    assert "whole table, provided no who has more than 50 rows" in answers.summary()
    assert "94.5%" in answers.summary()
    assert made.certification_ is not None
    claim = made.certification_.whole[0]
    assert claim.statement == "compared with the whole table, provided no who has more than 50 rows"
    assert claim.alpha == min(1.0, made.certification_.overall.alpha + claim.details["left_out"])
    assert claim.confidence == pytest.approx(1 - 0.05 - 0.005)
    assert any("no who has more than 50 rows" in one.text for one in made.release_.guarantee.assumptions)
    made.save(tmp_path / "made.holdfast")
    again = Synthesizer.load(tmp_path / "made.holdfast").answer()
    assert again.summary() == answers.summary()
    assert np.array_equal(again.groups[0].low, one.low)
    assert np.array_equal(again.groups[0].high, one.high)


def test_certified_answers_are_widened_as_the_notes_say() -> None:
    asked = fitted(1, 50, certified=Workload.of([("ill",)]))
    contents = asked._contents
    object.__setattr__(contents, "measurements", ())
    one = asked.answer().groups[0]
    assert asked.certification_ is not None
    alpha, share = asked.certification_.overall.alpha, asked.certification_.whole[0].details["left_out"]
    assert one.source == "certificate"
    assert np.allclose(one.low, (1 - share) * np.maximum(one.estimates - alpha, 0))
    assert np.allclose(one.high, (1 - share) * np.minimum(one.estimates + alpha, 1) + share)


@pytest.mark.parametrize(("bound", "rows"), [(1, "1 row per who was kept"), (3, "3 rows per who were kept")])
def test_without_a_cap_what_is_left_out_is_not_covered(bound: int, rows: str) -> None:
    made = fitted(bound, None)
    assert made.certificate_ is not None
    for text in (made.certificate_.statement, made.answer().summary()):
        assert f"after at most {rows}" in text
        assert f"rows beyond {bound} per who are not covered" in text
        assert "against the table" not in text
    assert made.certification_ is not None
    assert made.certification_.whole == ()


def test_a_cap_at_the_bound_costs_nothing_and_leaves_nothing_out() -> None:
    made = fitted(50, cast("int", np.int64(50)))
    assert made.certification_ is not None
    assert made.certification_.whole[0].details["left_out"] == 0
    assert made.certification_.whole[0].alpha == made.certification_.overall.alpha


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"user_cap": 2}, "user_cap must be a whole number >= max_rows = 3"),
        ({"user_cap": 5.5}, "user_cap must be"),
        ({"user_cap": True}, "user_cap must be"),
        ({"user_weights": True}, "declare max_rows=1"),
        ({"user_cap": 9, "share": 0.0}, "share must be in \\(0, 1\\)"),
    ],
)
def test_bad_declarations_cost_nothing(asked: dict[str, Any], message: str) -> None:
    account = Account(ZCDP(0.5), unit=schema_of(3).confirmed_unit, seed=1)
    rows = visits(np.array([2, 3]), np.zeros(5, dtype=int))
    with pytest.raises(ParameterError, match=message):
        Synthesizer(certificate=CertificateRequest(**asked)).fit(rows, schema_of(3), account=account)
    assert not account.journal.entries


def test_rows_have_no_cap() -> None:
    capped = Synthesizer(certificate=CertificateRequest(user_cap=3))
    with pytest.raises(ParameterError, match="user_cap must be left out"):
        capped.fit({"ill": [0, 1] * 20}, Schema([Categorical("ill", [0, 1])]))


def test_noise_for_rows_beyond_is_as_large_as_their_reach() -> None:
    account = Account(ZCDP(0.5))
    one, many = (
        certificate_noise(account, max_rows=reach, adjacency=account.adjacency)[1] for reach in (1, 49)
    )
    assert many == pytest.approx(49 * one, rel=1e-3)
