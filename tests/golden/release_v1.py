"""Makes release-v1/*.holdfast: files of the format holdfast-release/1 that every later version must load.

    python tests/golden/release_v1.py

They are made once and never again: a test loads them and compares with the values below. The
script refuses to overwrite one.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast._assumption import Assumption
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import ApproxDP, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._curves.slack import WithSlack
from holdfast.privacy._guarantee import Guarantee
from holdfast.release import Provenance, Release
from holdfast.release._certificate import Certificate

FOLDER = Path(__file__).with_name("release-v1")


def releases() -> dict[str, Release[Any]]:
    """Every kind of value and of curve that people have stored, by file name."""
    software = {"python": "3.11.7", "holdfast": "0.1.0", "numpy": "2.0.0", "scipy": "1.14.0"}
    by_user = PrivacyUnit("patient", max_rows=10)
    return {
        "counts": Release(
            value={"sex": np.array([12, -3], dtype=np.int64), "n": 9},
            guarantee=Guarantee(
                curve=ZCDP(0.125),
                adjacency=Adjacency.replace,
                unit=PrivacyUnit(),
                theorem="zCDP filter",
                assumptions=(Assumption(kind="labels", text="the set of labels is public"),),
            ),
            provenance=Provenance(
                method="counts",
                parameters={"sigma": 2.0, "columns": ["sex"]},
                schema_hash="ab" * 32,
                software=software,
                created="2025-01-31",
                account="0123/adult/first look",
                entries=(3, 5),
                head="cd" * 32,
            ),
            certificates=(
                Certificate(
                    name="largest error",
                    statement="by the law of the noise",
                    alpha=7.0,
                    confidence=0.95,
                    query_class="both counts",
                    details={"cells": 2},
                ),
            ),
        ),
        "nested": Release(
            value={
                "model": [np.array([[0.5, -math.inf], [math.nan, 0.0]]), (1, "é", None, True)],
                "odd": {1: math.inf, "$array": np.array(["a", "bc"])},
                "empty": np.zeros((0, 3), dtype=np.float32),
                "scalar": np.array(2.5),
            },
            guarantee=Guarantee(
                curve=WithSlack(GaussianDP(0.25), 1e-12, 0.0),
                adjacency=Adjacency.add_remove,
                unit=by_user,
                theorem="GDP filter",
            ),
            provenance=Provenance(
                method="seeded run",
                noise="seeded",
                arithmetic="idealised",
                software=software,
                created="2025-02-28",
            ),
        ),
        "table": Release(
            value=pa.table(
                {"age": pa.array([17, 90], pa.int32()), "sex": pa.array(["F", "M"]).dictionary_encode()}
            ),
            guarantee=Guarantee(
                curve=ApproxDP(1.0, 1e-6),
                adjacency=Adjacency.zero_out,
                unit=PrivacyUnit(),
                theorem="basic composition",
            ),
            provenance=Provenance(method="synthetic rows", software=software, created="2025-03-31"),
        ),
        "number": Release(
            value=-0.0,
            guarantee=Guarantee(
                curve=PureDP(0.1),
                adjacency=Adjacency.replace,
                unit=PrivacyUnit(),
                theorem="Laplace mechanism",
            ),
            provenance=Provenance(method="one number", software=software, created="2025-04-30"),
        ),
    }


def main() -> None:
    """Write the files that are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    for name, release in releases().items():
        path = FOLDER / f"{name}.holdfast"
        if not path.exists():
            release.save(path)


if __name__ == "__main__":
    main()
