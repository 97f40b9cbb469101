"""Adult in private-pgm's cells, and the 64 3-way marginals that the query-release literature measures on it."""

from __future__ import annotations

import json
import math
import warnings
from itertools import combinations

import numpy as np
import pyarrow.parquet as parquet
from studies.benchmarks.public_data import data_file

from holdfast.data import Categorical, Schema, open_table
from holdfast.data._table import Table
from holdfast.errors import AssumptionWarning
from holdfast.synth._workload import Workload

ROWS = 48_842
MARGINALS = 64


def adult_domain() -> dict[str, int]:
    """Columns in order, with their numbers of cells. The edges of the bins came from the data, for everybody."""
    domain: dict[str, int] = json.loads((data_file("adult_domain.json")).read_text())
    return domain


def adult_schema() -> Schema:
    """Every cell a category, `0`, `1`, ...; neighbours under `add_remove`, with a public number of rows."""
    columns = [
        Categorical(name, [str(cell) for cell in range(cells)]) for name, cells in adult_domain().items()
    ]
    return Schema(columns, adjacency="add_remove", n_public=ROWS)


def adult_table(adjacency: str = "add_remove") -> Table:
    """48,842 rows of 14 columns in memory; its number of rows is public."""
    schema = adult_schema()
    frame = parquet.read_table(data_file("adult_discrete.parquet")).select(list(schema.names))
    if adjacency != "add_remove":
        schema = Schema(schema.columns, adjacency=adjacency)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)
        return open_table(frame, schema)


def adult_workload(seed: int = 0) -> Workload:
    """64 of the 278 triples of at most n cells, by the rule and the seed of giusevtr/fem and terranceliu/iterative-dp.

    458,996 queries with seed 0.
    """
    domain = adult_domain()
    small = [
        triple for triple in combinations(domain, 3) if math.prod(domain[name] for name in triple) <= ROWS
    ]
    chosen = np.random.RandomState(seed).choice(len(small), MARGINALS, replace=False)
    return Workload.of([small[place] for place in chosen])
