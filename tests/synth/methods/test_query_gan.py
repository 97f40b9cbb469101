"""The one-shot QueryGAN: one release, whose neighbours stay within its sensitivity; the rest sees released values."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from holdfast._arrays import Codes
from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP
from holdfast.synth import Synthesizer, Workload
from holdfast.synth._evaluation import evaluate
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth.methods.gaussian import gaussian
from holdfast.synth.methods.query_gan import METHOD, Decoder, query_gan
from tests.studies.size import Study, trials
from tests.synth.synth_binary import account, bits, counted, marginals, max_error, neighbours
from tests.synth.synth_replay import distances, recorded

WORK = marginals()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_neighbours_stay_within_the_declared_sensitivity_and_reach_it(adjacency: str) -> None:
    moved = [
        max(distances(METHOD, first, second, WORK, limit=ApproxDP(1.0, 1e-6)))
        for first, second in neighbours(adjacency, 4)
    ]
    assert max(moved) <= 1.0
    assert max(moved) > 0.9


def test_one_release_takes_the_whole_budget_and_has_the_noise_of_gaussian() -> None:
    data = counted(bits())
    found = recorded(METHOD, data, WORK, ApproxDP(1.0, 1e-6), None)
    assert len(found) == 1
    opened = account(data, currency="gdp")
    made = query_gan(data, WORK, account=opened)
    assert opened.remaining().delta(0.0) < 1e-3
    plain = gaussian(data, WORK, account=account(data, currency="gdp"))
    for one, other in zip(made.measurements, plain.measurements, strict=True):
        assert np.array_equal(one.values, other.values)
        assert one.noise_std == other.noise_std


def test_the_model_is_closer_than_the_answers_it_was_made_from() -> None:
    data = counted(bits(3000, 16), "add_remove")
    work = marginals(16)
    made = query_gan(data, work, account=account(data, currency="gdp"))
    answered = {tuple(one.columns): one.values for one in made.measurements}
    raw = evaluate(lambda columns: data(*columns), lambda columns: answered[tuple(columns)], work)
    kept = evaluate(lambda columns: data(*columns), made.model.project, work)
    assert kept.average_total_variation < 0.8 * raw.average_total_variation
    assert kept.max_error < raw.max_error
    rows = CodedRows(domain=data.domain, codes=made.model.sample(3000, Source(seed=1)))
    drawn = evaluate(lambda columns: data(*columns), rows, work)
    assert drawn.average_total_variation < 1.1 * kept.average_total_variation


def chain(rows: int = 4000, columns: int = 16) -> Codes:
    """Each bit is mostly the one before: fifteen pairs say all that there is to say."""
    random = np.random.default_rng(6)
    made = random.integers(0, 2, (rows, columns))
    for place in range(1, columns):
        made[:, place] = made[:, place - 1] ^ (random.random(rows) < 0.15)
    return made


@pytest.mark.parametrize(("rows", "better"), [(chain(), "tree"), (bits(3000, 16), "generator")])
def test_values_held_back_choose_the_decoder(rows: Codes, better: str) -> None:
    """A tree of few tables where few say something of their own, the generator where all do."""
    data = counted(rows, "add_remove")
    work = Workload.of(list(combinations(data.domain, 2)))
    made = {
        decoder: query_gan(data, work, account=account(data, currency="gdp", seed=8), decoder=decoder)
        for decoder in get_args(Decoder)
    }
    errors = {
        decoder: evaluate(lambda columns: data(*columns), one.model.project, work).average_total_variation
        for decoder, one in made.items()
    }
    assert made["either"].parameters.get("decoder", "generator") == better
    assert errors["either"] == errors[better] == min(errors.values())


def test_another_decoder_is_refused_before_anything_is_charged() -> None:
    data = counted(bits())
    opened = account(data, currency="gdp")
    with pytest.raises(ParameterError, match="decoder must be one of either, generator, tree"):
        query_gan(data, WORK, account=opened, decoder="both")  # type: ignore[arg-type]
    assert not opened.journal.entries


def test_triples_columns_of_one_cell_and_one_possible_record() -> None:
    codes = np.column_stack([bits(500, 3), np.zeros(500, dtype=np.int64)])
    data = counted(codes, cells=(2, 2, 2, 1))
    made = query_gan(
        data, Workload.of([("x0", "x1", "x2"), ("x2", "x3")]), account=account(data, currency="gdp")
    )
    assert max_error(data, made, Workload.of([("x0", "x1", "x2")])) < 0.1
    alone = counted(np.zeros((20, 1), dtype=np.int64), cells=(1,))
    one = query_gan(alone, Workload.of([("x0",)]), account=account(alone, currency="gdp"))
    assert one.model.project(("x0",)).tolist() == [20.0]


def test_more_components_than_records_are_not_made() -> None:
    data = counted(bits(200, 2))
    made = query_gan(data, marginals(2), account=account(data, currency="gdp"))
    assert made.parameters["components"] == 16
    for name, bad in (("components", 0), ("most_steps", -1)):
        opened = account(data, currency="gdp")
        with pytest.raises(ParameterError, match=name):
            METHOD.fit(data, marginals(2), account=opened, **{name: bad})
        assert not opened.journal.entries


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_the_certificate_covers_the_released_rows(study: Study) -> None:
    """At a stated 5 %, over 200 runs; and the offset that was printed does not (soundness, section 10)."""
    data = counted(bits(300, 3))
    runs = trials(200)
    missed = printed = 0
    for seed in range(runs):
        made = Synthesizer(
            2.0,
            1e-6,
            method="query_gan",
            workload=marginals(3, 2),
            random_state=seed,
            options={"components": 20, "most_steps": 20},
        ).fit(data.table)
        true = evaluate(lambda columns: data(*columns), made._rows, marginals(3, 2)).max_error
        claim = made.certificate_
        assert claim is not None
        std = float(claim.details["noise_std"])
        missed += claim.alpha < true
        # -b ln(1 - 2u) in place of the quantile: about a sixteenth of it.
        printed += claim.alpha - 1.6449 * std + 0.105 * std < true
    study.alarms(missed, rate=0.05, runs=runs, chance=0.01)
    assert printed > 0.2 * runs


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_a_job_that_runs_again_gives_the_same_rows_and_pays_once() -> None:
    data = counted(bits(300, 3))
    opened = Account(ApproxDP(1.0, 1e-6), adjacency=data.adjacency, currency="gdp", seed=3)
    made, charges = [], []
    for _ in range(2):
        fitted = Synthesizer(method="query_gan", workload=marginals(3, 2), key="job").fit(
            data.table, account=opened
        )
        made.append(fitted._rows.codes)
        charges.append(len(opened.journal.entries))
    assert np.array_equal(made[0], made[1])
    assert charges[0] == charges[1]
    assert opened.spent().within(ApproxDP(1.0, 1e-6))
