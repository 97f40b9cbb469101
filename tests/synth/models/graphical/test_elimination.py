"""Messages are kept between questions, and no table beyond the limit is made."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from holdfast.synth._models.graphical import model as elimination
from holdfast.synth._models.graphical import model as graphical
from holdfast.synth._models.graphical.junction_tree import JunctionTree, propagate
from holdfast.synth._models.graphical.model import Elimination, GraphicalModel, product

NAMES = "abcdef"
DOMAIN = dict.fromkeys(NAMES, 3)


def chain(seed: int = 0) -> GraphicalModel:
    tree = JunctionTree.of(DOMAIN, list(pairwise(NAMES)))
    random = np.random.default_rng(seed)
    potentials = [random.normal(0.0, 1.5, (3, 3)) for _ in tree.cliques]
    return GraphicalModel(tree=tree, beliefs=propagate(tree, potentials), total=60.0)


def test_a_message_is_computed_once() -> None:
    model, made = chain(), []
    kept = Elimination(model.tree, model.beliefs)
    with pytest.MonkeyPatch.context() as patch:
        real = product

        def counting(*args: object) -> object:
            made.append(args)
            return real(*args)  # type: ignore[arg-type]

        patch.setattr(elimination, "product", counting)
        first = kept.joint(("a", "f"))
        many = len(made)
        again = kept.joint(("a", "f"))
    assert first is not None
    assert again is not None
    assert np.array_equal(first, again)
    assert len(made) - many == 1


def test_few_kept_messages_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = chain().project(("f", "a", "c"))
    monkeypatch.setattr(elimination, "MOST_CACHED_CELLS", 1)
    assert np.allclose(chain().project(("f", "a", "c")), whole)


def test_a_table_beyond_the_limit_is_not_made_but_counted_from_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model = chain()
    # Messages and the answer have 9 cells; each is a sum over three columns, 27 products.
    for most_cells, work, fits in ((8, 9, False), (9, 3, True), (9, 2, False)):
        monkeypatch.setattr(elimination, "MOST_PRODUCTS", work)
        made = Elimination(model.tree, model.beliefs).joint(("a", "f"), most_cells=most_cells)
        assert (made is not None) == fits
    exact = model.project(("a", "f"))
    drawn = chain()
    monkeypatch.setattr(Elimination, "joint", lambda self, wanted: None)
    counted = drawn.project(("a", "f"))
    assert counted.sum() == pytest.approx(60.0)
    assert not np.array_equal(counted, exact)
    assert np.abs(counted - exact).max() < 60.0 * 4 / np.sqrt(graphical.SAMPLED_ROWS)
