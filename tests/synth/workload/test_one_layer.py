"""One-layer functions of rows: values by hand, sums in blocks, what a unit moves, certificates of released rows."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.data import Categorical, Schema, open_table
from holdfast.errors import ParameterError
from holdfast.privacy import ZCDP, Account, ApproxDP
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.synth import CertificateRequest, Conjunctions, OneLayer, Synthesizer, Workload
from holdfast.synth._certificate import largest_errors
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._rows.coded_rows import CodedRows
from holdfast.synth._workload import one_layer
from holdfast.synth._workload.workload import Marginal
from holdfast.synth.methods.measure import measure_functions

NAMES, CELLS = ("a", "b", "c"), (2, 3, 4)
BOTH = (False, True)


def some(step: bool = False, seed: int = 0) -> OneLayer:
    net = OneLayer.random(NAMES, CELLS, functions=7, seed=seed)
    return OneLayer(NAMES, cells=CELLS, weights=net.weights, bias=net.bias, step=step)


def codes(rows: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.stack([random.integers(size, size=rows) for size in CELLS], axis=1)


def opened(rows: np.ndarray, adjacency: str = "replace") -> Any:
    schema = Schema(
        [Categorical(name, [str(k) for k in range(size)]) for name, size in zip(NAMES, CELLS, strict=True)],
        adjacency=adjacency,
    )
    return open_table({name: rows[:, k].astype(str) for k, name in enumerate(NAMES)}, schema)


@pytest.mark.parametrize("step", BOTH)
def test_values_are_what_the_formula_says(step: bool) -> None:
    group, rows = some(step), codes(50)
    weights, bias = np.asarray(group.weights), np.asarray(group.bias)
    starts = (0, 2, 5)
    for row, found in zip(rows, group.values(rows), strict=True):
        linear = bias + sum(weights[:, start + code] for start, code in zip(starts, row, strict=True))
        by_hand = (linear > 0).astype(float) if step else np.clip(linear, 0.0, 1.0)
        np.testing.assert_array_equal(found, by_hand)


def test_sums_do_not_depend_on_blocks_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    group, rows = some(), codes(999)
    whole = group.sums_over(rows)
    np.testing.assert_allclose(whole, group.values(rows).sum(axis=0), rtol=1e-12)
    monkeypatch.setattr(one_layer, "BLOCK_VALUES", 40)
    np.testing.assert_array_equal(group.sums_over(rows[::-1]), whole)
    joint = opened(rows).counts([NAMES])[0]
    np.testing.assert_array_equal(group.answers(joint), whole)


def test_marginals_are_one_layer() -> None:
    """Weight 1 on the cells of a marginal and bias 1 - k: the ReLU is its indicator."""
    group, rows = OneLayer.of_marginals(NAMES, CELLS, order=2), codes(300)
    table = ExactCounts(opened(rows))
    expected = [Marginal(pair).answers(table(*pair)) for pair in itertools.combinations(NAMES, 2)]
    np.testing.assert_array_equal(group.sums_over(rows), np.concatenate(expected))


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(BOTH), st.sampled_from([one.value for one in Adjacency]))
def test_no_neighbour_moves_the_sums_by_more_than_is_declared(seed: int, step: bool, adjacency: str) -> None:
    group = some(step, seed % 50)
    every = np.array(list(itertools.product(*(range(size) for size in CELLS))))
    values = group.values(every)
    low, high = group.extremes()
    np.testing.assert_array_equal(low, values.min(axis=0))
    np.testing.assert_array_equal(high, values.max(axis=0))
    if adjacency == "replace":
        worst = max(float(np.linalg.norm(one - other)) for one in values for other in values)
    else:
        worst = float(np.linalg.norm(values, axis=1).max())
    declared = group.l2_sensitivity(adjacency)
    assert worst <= declared <= math.sqrt(7) * (1 + 1e-9)
    user = PrivacyUnit.user("who", max_rows=3)
    assert group.l2_sensitivity(adjacency, user) >= 3 * worst / (1 if adjacency != "replace" else 2)
    assert group.l2_sensitivity(adjacency, user) == pytest.approx(3 * group.l2_sensitivity("add_remove"))


def test_where_the_declared_sensitivity_is_reached() -> None:
    one = OneLayer(("a",), cells=(2,), weights=[[1.0, 0.0], [1.0, 0.5]], bias=[0, 0])
    assert one.l2_sensitivity("add_remove") == pytest.approx(math.sqrt(2))
    assert one.l2_sensitivity("replace") == pytest.approx(math.hypot(1, 0.5))


def test_measured_with_gaussian_noise() -> None:
    rows, group = codes(4_000), some()
    data = ExactCounts(opened(rows))
    account = Account(ZCDP(0.5), adjacency="replace", seed=1)
    noisy, deviation = measure_functions(data, group, account=account)
    assert deviation == pytest.approx(
        group.l2_sensitivity("replace"), rel=1e-3
    )  # rho = 1/2: sigma is the sensitivity
    assert float(np.abs(noisy - group.sums_over(rows)).max()) < 6 * deviation
    assert float(account.remaining().as_zcdp()) < 1e-6  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_the_certificate_of_a_class_without_joint_cells(tmp_path: Path) -> None:
    """Forty binary columns have 10^12 joint cells: claimed, true, stored and read again."""
    names = tuple(f"x{k}" for k in range(40))
    random = np.random.default_rng(2)
    rows = (random.random((3_000, 40)) < random.uniform(0.2, 0.8, 40)).astype(int)
    schema = Schema([Categorical(name, ["0", "1"]) for name in names])
    frame = {name: rows[:, k].astype(str) for k, name in enumerate(names)}
    net = OneLayer.random(names, (2,) * 40, functions=300, seed=5)
    asked = CertificateRequest(workload=Workload([net, Conjunctions(("x0", "x1"))]))
    made = Synthesizer(2.0, 1e-6, method="independent", certificate=asked, random_state=3).fit(frame, schema)
    sample = made.sample()
    released = np.column_stack([np.asarray(sample[name]).astype(int) for name in names])
    true = net.sums_over(rows) / len(rows) - net.sums_over(released) / len(released)
    alpha = made.certificate_.alpha  # type: ignore[union-attr]
    assert float(np.abs(true).max()) <= alpha < 0.5
    assert "all 301 queries" in made.certificate_.query_class  # type: ignore[union-attr]
    made.save(tmp_path / "rows.holdfast")
    answers = Synthesizer.load(tmp_path / "rows.holdfast").answer(Workload([net]))
    np.testing.assert_allclose(answers.groups[0].estimates, net.sums_over(released) / len(released))
    assert answers.groups[0].source == "certificate"


def test_the_largest_error_is_over_every_function() -> None:
    rows, group = codes(200), some()
    released = CodedRows(domain=dict(zip(NAMES, CELLS, strict=True)), codes=codes(150, seed=9))
    found = largest_errors(ExactCounts(opened(rows)), released, Workload([Marginal(("a",)), group]))
    gaps = [
        abs(sum(group.values(rows)[:, k]) - 200 * float(group.values(released.codes)[:, k].mean()))
        for k in range(7)
    ]
    assert found[1] == pytest.approx(max(gaps))


@pytest.mark.parametrize(
    ("told", "match"),
    [
        ({"cells": (2,), "weights": [[0.0, 1.0]], "bias": [0.0, 0.0]}, "bias.shape"),
        ({"cells": (2,), "weights": [[0.0]], "bias": [0.0]}, "weights.shape"),
        ({"cells": (2, 2), "weights": [[0.0] * 4], "bias": [0.0]}, "cells"),
        ({"cells": (2,), "weights": [[0.0, math.nan]], "bias": [0.0]}, "weights"),
    ],
)
def test_what_is_refused(told: dict[str, Any], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        OneLayer(("a",), **told)


def test_a_method_is_not_asked_for_it() -> None:
    rows = codes(50)
    account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", currency="zcdp")
    before = account.remaining()
    with pytest.raises(ParameterError, match="workload=Workload"):
        Synthesizer(workload=Workload([some()])).fit(opened(rows), account=account)
    wrong = OneLayer.random(NAMES, (2, 2, 2), functions=1, seed=0)
    with pytest.raises(ParameterError, match="as in the schema"):
        Synthesizer(certificate=CertificateRequest(workload=Workload([wrong]))).fit(
            opened(rows), account=account
        )
    assert account.remaining() == before
