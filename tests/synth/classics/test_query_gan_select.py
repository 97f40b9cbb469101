"""Player A: selections and measurements within their sensitivities, and a game that is resumed from the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.synth import Synthesizer
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth.classics.query_gan_leader import METHOD as LEADER
from holdfast.synth.classics.query_gan_select import METHOD, average_mixture, query_gan_select
from holdfast.synth.methods.method import SynthesisMethod
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours
from tests.synth.synth_replay import distances

WORK = marginals()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_stay_within_the_declared_sensitivity_and_reach_it(adjacency: str) -> None:
    moved = [
        max(distances(METHOD, first, second, WORK, limit=ApproxDP(1.0, 1e-6)))
        for first, second in neighbours(adjacency, 3)
    ]
    assert max(moved) <= 1.0
    assert max(moved) > 0.9


def test_rounds_buy_accuracy_and_the_budget_ends_the_game() -> None:
    data = counted(bits(2000, 5))
    work, wide = marginals(5, 2), ApproxDP(8.0, 1e-6)
    opened = account(data, wide)
    made = query_gan_select(data, work, account=opened, rounds=6)
    assert made.parameters["rounds"] == 6
    assert len(set(made.parameters["tables"])) == 6
    assert opened.remaining().delta(0.0) < 1e-3
    alone = query_gan_select(data, work, account=account(data, wide), rounds=1)
    assert max_error(data, made, work) < max_error(data, alone, work)


def test_patience_ends_a_game_that_learns_nothing_and_leaves_the_rest() -> None:
    random = np.random.default_rng(1)
    data = counted(random.integers(0, 2, (300, 5)))  # independent columns: one-way tables say it all
    opened = account(data)
    made = query_gan_select(data, marginals(5, 2), account=opened, rounds=10, patience=2)
    assert made.parameters["rounds"] < 10
    assert opened.remaining().delta(0.0) > 1e-3


def test_the_average_is_the_mixture_of_all_rounds() -> None:
    corners = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    models = [MixtureModel(columns={"a": one, "b": one}, total=8.0) for one in corners]
    assert average_mixture(models).project(("a", "b")).tolist() == [[4.0, 0.0], [0.0, 4.0]]
    data = counted(bits(500, 3))
    made = query_gan_select(
        data, marginals(3, 2), account=account(data), rounds=3, release="average", components=10
    )
    assert made.model.base.components == 30  # type: ignore[attr-defined]


def test_a_network_plays_too_and_bad_options_cost_nothing() -> None:
    data = counted(bits(200, 3))
    opened = account(data)
    for name, bad in (("rounds", 0), ("patience", 0), ("training_steps", 0), ("most_steps", -1)):
        with pytest.raises(ParameterError, match=name):
            METHOD.fit(data, marginals(3, 2), account=opened, **{name: bad})
    assert not opened.journal.entries
    made = METHOD.fit(
        data, marginals(3, 2), account=opened, rounds=2, generator="network", training_steps=2, most_steps=5
    )
    assert made.parameters["generator"] == "network"


class Killed(Exception):
    """The process is gone."""


@pytest.mark.parametrize("method", [METHOD, LEADER], ids=lambda one: one.name)
def test_a_killed_game_goes_on_from_the_ledger_and_pays_once(method: SynthesisMethod, tmp_path: Path) -> None:
    """What was charged is given back and the game goes on from there; the ledger holds every charge once."""
    data = counted(bits(200, 3))
    path = tmp_path / "ledger.db"
    with Ledger.create(path) as ledger:
        ledger.dataset("people", limit=ApproxDP(2.0, 1e-5), adjacency=data.adjacency, currency="zcdp")
    real = ResumableAccount.release

    def fit(most: int | None) -> tuple[Any, list[str]]:
        left = [most]

        def dying(self: ResumableAccount, *args: Any, **options: Any) -> Any:
            if left[0] == 0:
                raise Killed
            left[0] = None if left[0] is None else left[0] - 1
            return real(self, *args, **options)

        told = {"rounds": 4} | ({"samples": 2} if method is LEADER else {"most_steps": 10})
        made = Synthesizer(method=method, workload=marginals(3, 2), options=told, key="game")
        with Ledger.open(path) as ledger, pytest.MonkeyPatch.context() as patch:
            patch.setattr(ResumableAccount, "release", dying)
            opened = ledger.account("people", limit=ApproxDP(1.0, 1e-6), name="a")
            try:
                made.fit(data.table, account=opened)
            except Killed:
                made = None  # type: ignore[assignment]
            assert ledger.verify().ok
            return made, [entry.charge.key or "" for entry in opened.journal.entries]

    lost, paid = fit(4)
    assert lost is None
    assert len(paid) == 4
    made, charged = fit(None)
    assert charged[:4] == paid
    assert len(charged) == len(set(charged))
    again, repeated = fit(None)
    assert repeated == charged
    assert np.array_equal(made._rows.codes, again._rows.codes)
    assert made.certificate_ is not None
    assert made.certificate_.alpha == again.certificate_.alpha
