"""One record shows in nothing but the charged values: not in a type, a shape, a warning, an error, a charge or a file.

A record is changed in every way in which it can differ, through every door and in every method; `observed.py` says what
is compared, `changed_records.py` how records are changed. Both follow from what methods and column kinds declare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Encoder, Identifier, RowSum, Schema, counts_l1, counts_l2, open_table, sum_l2
from holdfast.errors import ParameterError
from holdfast.learn import (
    LEARNERS,
    PrivateAdditiveClassifier,
    PrivateAdditiveRegressor,
    PrivateHuberRegression,
    PrivateLasso,
    PrivateLinearRegression,
    PrivateLinearSVC,
    PrivateLogisticRegression,
    PrivateRidge,
)
from holdfast.noise._source import Source
from holdfast.privacy import (
    ZCDP,
    Account,
    Adjacency,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    VectorLaplace,
)
from holdfast.release import Release
from holdfast.synth import SYNTHESISERS, Synthesizer, Workload
from tests.contracts.changed_records import (
    DOORS,
    ROWS,
    SCHEMA,
    TABLE,
    USERS,
    Columns,
    Door,
    covers_every_kind,
    csv_file,
    duckdb_file,
    neighbours,
    parquet_file,
)
from tests.contracts.observed import TIME, what_one_record_shows
from tests.studies.size import deep

Run = Callable[[Path], Mapping[str, Any]]
Fit = tuple[type[Any], str, dict[str, Any]]
LIMIT = ApproxDP(50.0, 1e-3)


def statistics(arguments: Mapping[str, Any], schema: Schema, folder: Path) -> dict[str, Any]:
    """Counts and sums of a table through an account, and all that the table and the release say of themselves."""
    with open_table(schema=schema, entropy=Source(seed=5), **arguments) as table:
        account = Account(LIMIT, adjacency=table.adjacency, unit=table.unit, currency="zcdp", seed=1)
        sets = [(name,) for name in schema.names] + [schema.names[:2]]
        counts = np.concatenate([count.ravel() for count in table.counts(sets)])
        l1 = counts_l1(table.adjacency, table.unit, marginals=len(sets))
        l2 = counts_l2(table.adjacency, table.unit, marginals=len(sets))
        encoder = Encoder(schema, row_norm=1.0)
        norm = sum_l2(encoder.row_norm_bound, table.adjacency, table.unit)
        noisy = {
            "gaussian": account.release(Gaussian(sigma=l2, l2_sensitivity=l2), counts),
            "laplace": account.release(Laplace(scale=l1, l1_sensitivity=l1), counts),
            "whole": account.release(DiscreteGaussian(sigma=l2, l2_sensitivity=l2), counts),
            "sums": account.release(Gaussian(sigma=norm, l2_sensitivity=norm), table.sums(RowSum(encoder))),
        }
        release = Release.of(account, noisy, method="statistics", schema_hash=table.schema.hash())
        release.save(folder / "statistics.holdfast")
        return {
            **noisy,
            "assumptions": [assumption.text for assumption in table.assumptions],
            "schema": table.schema.to_dict(),
            "summary": release.summary(),
            "n_public": table.n_public,
        }


def test_every_kind_of_column_is_changed() -> None:
    assert covers_every_kind()


COLUMNS = [(SCHEMA, name) for name in SCHEMA.names] + [(USERS, "who"), (USERS, "ward")]


@pytest.mark.share(12)
@pytest.mark.parametrize("place", [0, 7])
@pytest.mark.parametrize(
    ("schema", "name"), COLUMNS, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("door", DOORS)
def test_through_every_door(door: str, schema: Schema, name: str, place: int, tmp_path: Path) -> None:
    def run(columns: Columns) -> Run:
        return partial(through_door, DOORS[door], schema, columns)

    every = list(neighbours(schema, name, place))
    drawn = every if deep() else Random(f"{door} {name} {place}").sample(every, 6)
    changed = {change: run(columns) for change, columns in drawn}
    # One row is one unit; a row that changes hands belongs to two users, before and after.
    reach = 1.0 if schema is SCHEMA else 3.0
    assert what_one_record_shows(run(table_of(schema)), changed, tmp_path, reach=reach) == {}


def through_door(door: Door, schema: Schema, columns: Columns, folder: Path) -> dict[str, Any]:
    """The statistics of a table that comes in by a door; the source lies beside the folder of what is written."""
    return statistics(door(beside(folder), columns), schema, folder)


def beside(folder: Path) -> Path:
    """A folder for the source of a run."""
    source = folder.with_name(f"{folder.name}-source")
    source.mkdir()
    return source


# By hand, without a schema: what NumPy and pandas compute goes to an account as it is.

HAND: dict[str, Callable[[list[Any]], Any]] = {
    "pandas sum": lambda values: pd.Series(values).sum(),
    "pandas mean": lambda values: pd.Series(values).mean(),
    "pandas median of a frame": lambda values: pd.DataFrame({"x": values}).median(),
    "pandas maximum": lambda values: pd.Series(values).max(),
    "polars sum": lambda values: pl.Series(values, strict=False).sum(),
    "arrow sum": lambda values: pc.sum(pa.array(values)).as_py(),
    "python sum": lambda values: [sum(values)],
    "numpy sum": lambda values: np.sum(values),
    "a list": lambda values: values,
    "an array": np.array,
}
NUMBERS: tuple[Any, ...] = (
    4,
    2.5,
    -0.0,
    float("nan"),
    float("inf"),
    1e308,
    2**70,
    True,
    None,
    np.float32(0.5),
)
"""What one of the numbers may be; where a library refuses to compute with it, it does so without an account."""


@pytest.mark.parametrize("how", HAND)
@pytest.mark.filterwarnings("ignore")
def test_by_hand(how: str, tmp_path: Path) -> None:
    mechanisms = [
        Gaussian(sigma=1.0, l2_sensitivity=1.0),
        Laplace(scale=1.0, l1_sensitivity=1.0),
        DiscreteGaussian(sigma=1.0, l2_sensitivity=1.0),
        DiscreteLaplace(scale=1.0, l1_sensitivity=1.0),
        VectorLaplace(epsilon=1.0, l2_sensitivity=1.0),
    ]

    def run(value: Any, folder: Path) -> dict[str, Any]:
        account = Account(ZCDP(1e3), seed=1)
        return {mechanism.name: account.release(mechanism, value) for mechanism in mechanisms}

    def computed(number: Any) -> Any:
        try:
            return HAND[how]([1, 2, number])
        except (TypeError, ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError):
            return HAND[how]([1, 2, 0])

    changed = {f"{how} with {number!r}": partial(run, computed(number)) for number in NUMBERS}
    assert what_one_record_shows(partial(run, computed(3)), changed, tmp_path) == {}


# Methods: those that are registered, whatever they are.

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"penalty": 0.1},
    {"radius": 1.0},
    {"options": {"batch": 4}},
    {"penalty": 0.1, "options": {"batch": 4}},
)
FITS: tuple[Fit, ...] = tuple(
    (kind, target, options)
    for kind, target in (
        (PrivateLogisticRegression, "ill"),
        (PrivateLinearRegression, "real"),
        (PrivateLogisticRegression, "ward"),
    )
    for options in OPTIONS
)
"""Ways to fit a linear model to the tables; a method takes one of them at least."""
MODELS: dict[str, tuple[Fit, ...]] = {
    **{
        f"method {learner.name}": tuple(
            (kind, target, {**more, "method": learner.name}) for kind, target, more in FITS
        )
        for learner in LEARNERS
    },
    "additive classes": ((PrivateAdditiveClassifier, "ill", {}),),
    "additive numbers": ((PrivateAdditiveRegressor, "real", {}),),
    "huber": ((PrivateHuberRegression, "real", {}),),
    "lasso": ((PrivateLasso, "real", {"radius": 1.0}), (PrivateLasso, "real", {})),
    "ridge": ((PrivateRidge, "real", {"penalty": 0.1}), (PrivateRidge, "real", {})),
    "svm": ((PrivateLinearSVC, "ill", {}),),
}
CURRENCIES = {f"method {learner.name}": learner.currency for learner in LEARNERS}
PROVED = {f"method {learner.name}": learner.adjacencies for learner in LEARNERS}


@pytest.mark.share(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unit", ["rows", "users"])
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, unit: str, tmp_path: Path) -> None:
    def run(fit: Fit, schema: Schema, columns: Columns, folder: Path) -> dict[str, Any]:
        kind, target, options = fit
        assert schema.adjacency is not None
        private = None if Adjacency.of(schema.adjacency).count_is_public else ROWS
        table = open_table(
            schema=schema, entropy=Source(seed=5), n_public=private, **DOORS["pandas"](folder, columns)
        )
        account = Account(
            LIMIT, adjacency=table.adjacency, unit=table.unit, currency=CURRENCIES.get(name), seed=1
        )
        model = kind(**options).fit(table, target=target, account=account)
        model.release_.save(folder / "model.holdfast")
        return {"value": model.release_.value, "summary": model.summary(), "attributes": sorted(vars(model))}

    declared = SCHEMA if unit == "rows" else USERS
    tried = 0
    for adjacency in PROVED.get(name, ("replace", "add_remove")):
        schema = Schema(declared.columns, unit=declared.unit, adjacency=adjacency)
        fit = next(
            (each for each in MODELS[name] if works(partial(run, each, schema), schema, tmp_path)), None
        )
        if fit is not None:
            tried += 1
            changed = {
                change: partial(run, fit, schema, columns)
                for change, columns in some_neighbours(schema, f"{name} {adjacency}", 6)
            }
            folder = tmp_path / adjacency
            folder.mkdir()
            assert what_one_record_shows(partial(run, fit, schema, table_of(schema)), changed, folder) == {}
    assert tried or unit == "users", "no way to fit it works on these tables"


def works(run: Callable[[Columns, Path], Any], schema: Schema, folder: Path) -> bool:
    """Whether a method takes a problem at all, which it says from declared facts."""
    try:
        run(table_of(schema), folder)
    except ParameterError:
        return False
    return True


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [synthesiser.name for synthesiser in SYNTHESISERS])
def test_synthetic_rows(name: str, tmp_path: Path) -> None:
    """Rows, their types in each kind of frame, answers, certificates and files."""
    (method,) = (synthesiser for synthesiser in SYNTHESISERS if synthesiser.name == name)
    schema = SCHEMA.select("whole", "ward", "day", "ill")

    def run(door: str, columns: Columns, folder: Path) -> dict[str, Any]:
        source = DOORS[door](folder, columns)["source"]
        account = Account(LIMIT, adjacency="replace", currency=method.currency, seed=1)
        synthesizer = Synthesizer(method=name, workload=Workload.marginals(schema, 2)).fit(
            source, schema, account
        )
        synthesizer.save(folder / "rows.holdfast")
        frames = {
            f"rows in {kind}": synthesizer.sample(frame=kind)
            for kind in ("pandas", "polars", "arrow", "dict")
        }
        return {"rows": synthesizer.sample(), **frames, "summary": synthesizer.summary()}

    for door in ("pandas", "polars"):
        folder = tmp_path / door
        folder.mkdir()
        changed = {
            change: partial(run, door, columns)
            for change, columns in some_neighbours(schema, f"{name} {door}", 4)
        }
        assert what_one_record_shows(partial(run, door, table_of(schema)), changed, folder) == {}


# Commands.

COMMANDS = {
    "fit": "fit {source} --schema {schema} --target ill --epsilon 40 --delta 1e-3 -o {out}/model.holdfast "
    "--weights {out}/weights.json --ledger {out}/budget.db --dataset rows",
    "fit numbers": "fit {source} --schema {schema} --target real --epsilon 40 --delta 1e-3 -o {out}/model.holdfast",
    "synth": "synth {source} --schema {schema} --epsilon 40 --delta 1e-3 --method independent -o {out}/rows.parquet",
    "synth as CSV": "synth {source} --schema {schema} --epsilon 40 --delta 1e-3 --method gaussian -o {out}/rows.csv",
}
LEDGER = "ledger init {out}/budget.db --dataset rows --epsilon 50 --delta 2e-3 --adjacency replace"
FILES: dict[str, Door] = {"parquet": parquet_file, "csv": csv_file, "duckdb": duckdb_file}


@pytest.mark.share(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", FILES)
def test_commands(command: str, kind: str, tmp_path: Path) -> None:
    """What is printed, how it ends, and every file."""
    schema = SCHEMA.select("real", "whole", "ward", "ill", "day")
    schema.save(tmp_path / "schema.toml")

    def run(columns: Columns, folder: Path) -> dict[str, Any]:
        source = FILES[kind](beside(folder), columns)["source"]
        words = {"source": source, "schema": tmp_path / "schema.toml", "out": folder}
        ends = []
        for line in (LEDGER, COMMANDS[command] + " --even-if-useless"):
            ended = CliRunner().invoke(app, line.format(**words).split())
            said = ended.output.replace(str(folder), "").replace(str(source), "")
            ends.append((ended.exit_code, TIME.sub("...", said), str(ended.exception)))
        return {"ends": ends}

    changed = {
        change: partial(run, columns) for change, columns in some_neighbours(schema, f"{command} {kind}", 4)
    }
    assert what_one_record_shows(partial(run, table_of(schema)), changed, tmp_path) == {}


def table_of(schema: Schema) -> Columns:
    """The rows that are changed, in the columns of a schema."""
    return {column.name: TABLE[column.name] for column in schema.columns}


def some_neighbours(schema: Schema, name: str, count: int) -> list[tuple[str, Columns]]:
    """So many of all changes of a record but of whose it is, drawn with a seed of that name."""
    every = [
        neighbour
        for column in schema.columns
        if not isinstance(column, Identifier)
        for neighbour in neighbours(schema, column.name, 7)
    ]
    return Random(name).sample(every, 8 * count if deep() else count)
