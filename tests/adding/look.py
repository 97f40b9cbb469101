"""In the copy: contracts, names, commands, faults and facts that hold the toys because their registries do."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.learn._catalogue import REGISTRY as LEARNERS
from holdfast.noise._source import Source
from holdfast.refute._broken import UnderFault
from holdfast.refute._faults import FAULTS
from holdfast.refute._subjects import subject_names
from holdfast.synth._catalogue import REGISTRY as SYNTHESISERS
from holdfast.testing import EngineStore, check_column, check_engine
from tests.contracts import (
    test_columns,
    test_engine_neighbours,
    test_engines,
    test_learn_methods,
    test_synth_methods,
)
from tests.golden import frozen_learn, frozen_synth

LEARNER, SYNTHESISER, ENGINE, COLUMN = "one_sum", "columns_only", "feather", "weekday"


def command(*arguments: str | Path) -> str:
    """What a command prints; it must end well."""
    shown = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert shown.exit_code == 0, shown.output
    return shown.output


def commands(folder: Path) -> None:
    """Both are called by name from a shell."""
    random = np.random.default_rng(0)
    ages = random.integers(18, 90, 2000)
    lines = [f"{age},{'yes' if age + random.normal(0, 20) > 55 else 'no'}" for age in ages]
    (folder / "people.csv").write_text("\n".join(["age,ill", *lines]) + "\n", encoding="utf-8")
    schema = Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])])
    schema.save(folder / "people.toml")
    source = (folder / "people.csv", "--schema", folder / "people.toml", "--epsilon", "2", "--delta", "1e-6")
    command("fit", *source, "--target", "ill", "--method", LEARNER, "-o", folder / "model.holdfast")
    command("synth", *source, "--method", SYNTHESISER, "-o", folder / "rows.csv")


def contracts(folder: Path) -> None:
    """Every check that all others undergo is there for each; some that are quick are made."""
    for entry, module, registry in (
        (LEARNER, test_learn_methods, LEARNERS),
        (SYNTHESISER, test_synth_methods, SYNTHESISERS),
    ):
        checks = {str(parameter.id): parameter.values[0] for parameter in module.CHECKS}
        undergone = {
            name: {check.removeprefix(f"{name}-") for check in checks if check.startswith(f"{name}-")}
            for name in registry.names()
        }
        assert set.intersection(*undergone.values()) == set.intersection(
            *(named for name, named in undergone.items() if name != entry)
        )
        for name in undergone[entry]:
            if "option" in name or "declar" in name:
                checks[f"{entry}-{name}"]()
    assert ENGINE in test_engines.STORES
    put = test_engine_neighbours.OWN[ENGINE]
    check_engine(EngineStore(put=partial(put, folder)), cases=3)
    columns = [column for column in test_columns.COLUMNS if type(column).kind == COLUMN]
    assert len(columns) == 2
    for column in columns:
        check_column(column)


def main() -> None:
    """All of it."""
    assert LEARNER in LEARNERS.names()
    assert SYNTHESISER in SYNTHESISERS.names()
    subjects = {one.name for one in subject_names()}
    for name in (LEARNER, SYNTHESISER):
        assert f"{name} replace" in subjects
        faults = {fault.test: fault for fault in FAULTS if f"{name} replace" in fault.subjects}
        assert set(faults) == {"replay", "freshness"}, faults
        outcome = UnderFault(fault=faults["replay"]).run(Source(seed=1), error=1e-8)
        assert outcome.refuted, outcome.summary()
    for module, registry, entry in (
        (frozen_learn, "LEARNERS", LEARNERS.find(LEARNER)),
        (frozen_synth, "SYNTHESISERS", SYNTHESISERS.find(SYNTHESISER)),
    ):
        frozen: Any = module
        with patch.object(frozen, registry, (entry,)):
            facts = dict(frozen.methods())
        assert facts
        assert any(isinstance(fact, dict) for fact in facts.values()), facts
    with tempfile.TemporaryDirectory() as folder:
        contracts(Path(folder))
        commands(Path(folder))


if __name__ == "__main__":
    main()
