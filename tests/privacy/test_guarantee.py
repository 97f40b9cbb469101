"""A guarantee says whether its noise came from a seed, wherever it goes (finding P8)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast._assumption import Assumption
from holdfast.errors import FormatError, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import Account, Guarantee, Laplace, PureDP
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.release import Release
from holdfast.release._release import Provenance

NOISE = Laplace(scale=4.0, l1_sensitivity=1.0)
"""It costs a quarter of PureDP(1)."""


def _says_so(guarantee: Guarantee) -> bool:
    """All texts agree; whether they say that the noise came from a seed and that this is not private."""
    told = {
        not guarantee.private,
        "NOT PRIVATE: drawn from a seed" in guarantee.summary(),
        "NOT PRIVATE: drawn from a seed" in str(guarantee),
        "'seeded'" in repr(guarantee),
        '"seeded"' in json.dumps(guarantee.to_json()),
    }
    assert len(told) == 1
    return told.pop()


def _opened(seed: int | None) -> Guarantee:
    return Account(PureDP(0.5), seed=seed).guarantee()


trees = st.recursive(
    st.booleans(), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=6
)


def _composed(tree: Any, stored: bool) -> Guarantee:
    """One guarantee out of a nested list of seeded (True) and secure (False) ones."""
    if isinstance(tree, bool):
        return _opened(1 if tree else None)
    first, *others = (_composed(one, stored) for one in tree)
    for other in others:
        first = first.compose(other)
    return (
        Guarantee.from_json(json.loads(json.dumps(first.to_json())))
        if stored
        else first.assuming(Assumption(kind="labels", text="more"))
    )


def _leaves(tree: Any) -> list[bool]:
    return [tree] if isinstance(tree, bool) else [leaf for one in tree for leaf in _leaves(one)]


@given(trees, st.booleans())
def test_a_composition_is_seeded_if_any_part_of_it_was(tree: Any, stored: bool) -> None:
    assert _says_so(_composed(tree, stored)) == any(_leaves(tree))


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_every_account_that_comes_from_a_seeded_one_says_so(seed: int | None) -> None:
    whole = Account(PureDP(1.0), seed=seed)
    (half,) = whole.split(0.5)
    (quarter, _) = half.split(0.5, 0.5)
    parts = accounts_for_parts(Account(PureDP(1.0), seed=seed), parts=2, label="parts")
    job = ResumableAccount.of(Account(PureDP(1.0), seed=seed), "job")
    for account in (whole, half, quarter, *parts, job, job.split(0.5)[0]):
        assert _says_so(account.guarantee()) == (seed is not None)
        account.release(NOISE, [0.0]) if account.remaining().delta(0.0) > 0.2 else None
        assert _says_so(account.guarantee()) == (seed is not None)
        assert pickle.loads(pickle.dumps(account.guarantee())) == account.guarantee()


def test_what_was_drawn_from_a_seed_marks_an_account_that_is_opened_again_without_one(tmp_path: Path) -> None:
    """The journal knows; a share of its own that holds no such charge stays clean."""
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.dataset("table", limit=PureDP(4.0))
    first = ledger.account("table", name="work", limit=PureDP(1.0), seed=3)
    first.split(0.5, 0.5)[0].release(NOISE, [0.0])
    again = ledger.account("table", name="work")
    touched, clean = again.split(0.5, 0.5)
    assert _says_so(again.guarantee())
    assert _says_so(touched.guarantee())
    assert _says_so(ResumableAccount.of(again, "job").guarantee())
    assert not _says_so(clean.guarantee())


@pytest.mark.parametrize("marked", ["guarantee", "provenance", "both"])
def test_one_mark_is_enough_for_a_release(marked: str, tmp_path: Path) -> None:
    release = Release(
        value=1.0,
        guarantee=_opened(None if marked == "provenance" else 1),
        provenance=Provenance(method="by hand", noise="secure" if marked == "guarantee" else "seeded"),
    )
    release.save(tmp_path / "kept")
    for one in (release, Release.load(tmp_path / "kept")):
        assert not one.private
        assert not one.provenance.private
        assert _says_so(one.guarantee)
        assert one.summary().count("NOT PRIVATE") == 1


def test_a_stored_guarantee_says_where_its_noise_came_from() -> None:
    stored = _opened(None).to_json()
    assert stored["noise"] == "secure"
    assert Guarantee.from_json(stored).private
    for name in stored:
        with pytest.raises(FormatError, match=name):
            Guarantee.from_json({key: value for key, value in stored.items() if key != name})
    with pytest.raises(FormatError, match="no others"):
        Guarantee.from_json(stored | {"more": 1})
    with pytest.raises(FormatError):
        Guarantee.from_json(stored | {"noise": "lucky"})
    with pytest.raises(ParameterError, match="noise must be"):
        Guarantee(**{**vars(_opened(None)), "noise": "lucky"})
