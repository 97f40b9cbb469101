"""Tables made up to find where additive models fail: rare classes, a skewed target, many columns, missing numbers.

They were looked at while the rule was mended, so they show what it does now and not what it does on a table never seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from studies.benchmarks.additive_data import AdditiveTable
from studies.benchmarks.public_data import package

from holdfast.data import Categorical, Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = package("pandas")


def _made(name: str, frame: pd.DataFrame, columns: list[Any], target: Any, train: int) -> AdditiveTable:
    return AdditiveTable(
        name=name,
        target=target.name,
        schema=Schema([*columns, target], adjacency="zero_out"),
        train=frame.iloc[:train].reset_index(drop=True),
        test=frame.iloc[train:].reset_index(drop=True),
    )


def _coin(score: Any, random: np.random.Generator) -> Any:
    return np.where(random.uniform(size=len(score)) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")


def _numbered(x: Any) -> pd.DataFrame:
    return pd.DataFrame(x, columns=[f"x{place}" for place in range(x.shape[1])])


def rare() -> AdditiveTable:
    """A class of 0.7 %, 20 columns, a linear truth: the learning panel's table."""
    from studies.benchmarks.learn_panel_tables import rare as panel

    table = panel()
    train, test = table.split(0)
    return AdditiveTable(name="1 % class", target="y", schema=table.schema, train=train, test=test)


def rare_wide() -> AdditiveTable:
    """A class of 4 %, 40 correlated columns with heavy tails, a truth that is not linear; 60,000 rows."""
    random, count = np.random.default_rng(31), 90_000
    factors = random.normal(size=(count, 6))
    x = factors @ random.normal(size=(6, 40)) * 0.6 + random.standard_t(4, size=(count, 40))
    score = 1.6 * np.maximum(x[:, 0], 0) + 1.2 * x[:, 1] - np.abs(x[:, 2]) + 0.8 * x[:, 3] * (x[:, 4] > 0)
    frame = _numbered(x).assign(y=_coin(1.2 * (score + 0.7 * np.tanh(x[:, 5])) - 7.2, random))
    columns = [Numeric(f"x{place}", -20, 20) for place in range(40)]
    return _made("4 % class", frame, columns, Categorical("y", ["no", "yes"]), 60_000)


def claims() -> AdditiveTable:
    """A skewed target far from the middle of its range, a column of 200 categories; 20,000 rows."""
    random, count = np.random.default_rng(32), 30_000
    often = 1.0 / np.arange(1, 201)
    region = random.choice(200, size=count, p=often / often.sum())
    effect = random.normal(size=200) * 0.5
    age, power = random.integers(18, 90, size=count), random.gamma(3, 40, size=count)
    kind = random.choice(list("abcde"), size=count, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    km = np.exp(random.normal(9, 1, size=count))
    level = 5.5 + effect[region] + 0.6 * np.exp(-(age - 18) / 8) + 0.004 * power + 0.15 * np.log(km / 8000)
    cost = np.exp(level + 0.3 * (kind == "d") + 0.8 * (kind == "e") + random.normal(0, 0.8, size=count))
    frame = pd.DataFrame(
        {
            "region": [f"r{place}" for place in region],
            "age": age,
            "power": power,
            "kind": kind,
            "km": km,
            "cost": cost,
        }
    )
    columns = [
        Categorical("region", [f"r{place}" for place in range(200)]),
        Numeric("age", 0, 120, integer=True),
        Numeric("power", 0, 1000),
        Categorical("kind", list("abcde")),
        Numeric("km", 0, 500_000),
    ]
    return _made("claims", frame, columns, Numeric("cost", 0, 20_000), 20_000)


def few_rows() -> AdditiveTable:
    """2,000 rows of 30 columns, five of which matter."""
    random = np.random.default_rng(33)
    x = random.normal(size=(12_000, 30))
    score = 1.5 * x[:, 0] - x[:, 1] + 0.8 * (x[:, 2] > 0) - 0.7 * x[:, 3] ** 2 + 0.5 * x[:, 4] + 0.5
    columns = [Numeric(f"x{place}", -5, 5) for place in range(30)]
    frame = _numbered(x).assign(y=_coin(score, random))
    return _made("2,000 rows", frame, columns, Categorical("y", ["no", "yes"]), 2_000)


def few_numbers() -> AdditiveTable:
    """The same rows with a number to predict."""
    table, random = few_rows(), np.random.default_rng(34)
    frame = pd.concat([table.train, table.test], ignore_index=True)
    x = frame.drop(columns="y").to_numpy()
    noise = random.normal(0, 2, size=len(x))
    frame["y"] = 3 * x[:, 0] - 2 * x[:, 1] + 2 * np.abs(x[:, 2]) + x[:, 3] + noise
    return _made("2,000 rows, a number", frame, list(table.schema.columns[:-1]), Numeric("y", -20, 20), 2_000)


def gaps() -> AdditiveTable:
    """A number that is missing for two rows in three, which tells, and one for 85 %, which does not; 15,000 rows."""
    random, count = np.random.default_rng(35), 25_000
    lab, age = random.normal(5, 2, size=count), random.integers(0, 100, size=count)
    sick = random.normal(size=count) + 0.03 * (age - 50)
    missing = random.uniform(size=count) < 1 / (1 + np.exp(1.2 * sick - 0.8))
    ward = random.choice(list("abcdef"), size=count)
    score = (
        0.8 * sick
        + np.where(missing, -0.5, 0.5 * (lab - 5))
        + 0.4 * (ward == "b")
        - 0.5 * (ward == "f")
        - 0.3
    )
    income = np.exp(random.normal(10, 1, size=count))
    income[random.uniform(size=count) < 0.85] = np.nan
    seen = np.clip(sick + random.normal(size=count), -6, 6)
    frame = pd.DataFrame(
        {
            "lab": np.where(missing, np.nan, lab),
            "age": age,
            "ward": ward,
            "income": income,
            "score": seen,
            "dead": _coin(score, random),
        }
    )
    columns = [
        Numeric("lab", 0, 20, null="category"),
        Numeric("age", 0, 120, integer=True),
        Categorical("ward", list("abcdef")),
        Numeric("income", 0, 1_000_000, null="category"),
        Numeric("score", -6, 6),
    ]
    return _made("gaps", frame, columns, Categorical("dead", ["no", "yes"]), 15_000)


MADE: dict[str, Callable[[], AdditiveTable]] = {
    "1 % class": rare,
    "4 % class": rare_wide,
    "claims": claims,
    "2,000 rows": few_rows,
    "2,000 rows, a number": few_numbers,
    "gaps": gaps,
}
