"""Tables behind a schema: what is declared about the columns, and where the rows lie.

Contents
--------
Declare columns
    `Schema` of `Numeric`, `Categorical`, `Hierarchy`, `DateTime` and `Identifier`; `draft_schema` guesses one
    from a file; `CsvFormat` says how CSV files are written.
Open data where they are
    `open_table` for frames, files, DuckDB, PostgreSQL and Spark; the engines are in `ENGINES`.
Turn rows into numbers
    `Encoder` scales and one-hot encodes by the schema alone; `Table.counts`, `Table.sums` and `Table.batches`
    are exact.
Bound what one person moves
    `counts_l1`, `counts_l2`, `sum_l2`, `row_steps`; `Order` arranges records without telling who they are.

Public and private
------------------
Public are the schema, everything that follows from it (cells, labels, bounds, sensitivities) and the names of
files. Private is whatever a `Table` returns: counts, sums, rows, their number under `add_remove`, and the text
of an error that a value caused. A schema that `draft_schema` made holds values of the data and says so until
somebody confirms it.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
