"""Declare what is public, then ask the same questions of a data frame and of a file.

A schema says which values may occur. What lies outside is clipped or sent to a declared category, and cells
nobody falls into are counted as zero, so the shape of an answer says nothing about the data.
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from holdfast.data import Categorical, Encoder, Identifier, Numeric, RowSum, Schema, open_table
from holdfast.data._sensitivity import counts_l2, sum_l2
from holdfast.privacy._adjacency import PrivacyUnit

schema = Schema(
    [
        Identifier("patient"),
        Numeric("age", 0, 110, bins=[0, 18, 40, 65, 110], integer=True),
        Categorical("ward", ["surgery", "medicine"], other="(other)", null="(not recorded)"),
    ],
    unit=PrivacyUnit.user("patient", max_rows=2),
    adjacency="replace",
)
visits = pa.table(
    {
        "patient": ["p1", "p1", "p1", "p2", "p3", None],
        "age": [34, 34, 34, 71, 208, None],
        "ward": ["surgery", "surgery", "medicine", "medicine", "helipad", None],
    }
)


def main() -> None:
    """Count and sum in memory and in DuckDB, and say how far one patient moves the answers."""
    print(schema.summary())
    encoder = Encoder(schema, row_norm=1.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.parquet"
        parquet.write_table(visits, path)
        for source in (visits, path):
            with open_table(source, schema) as table:
                ages, wards = table.counts([["age"], ["ward"]])
                print(type(table).__name__, dict(zip(schema["age"].labels, ages.tolist(), strict=True)))
                print("  ", dict(zip(schema["ward"].labels, wards.tolist(), strict=True)))
                print("  ", "sum of encoded rows:", table.sums(RowSum(encoder)).round(3).tolist())
    print(
        "one patient moves both counts together by at most",
        counts_l2("replace", schema.confirmed_unit, marginals=2),
    )
    print("and the sum of rows by at most", sum_l2(encoder.row_norm_bound, "replace", schema.confirmed_unit))


if __name__ == "__main__":
    main()
