"""Declared data: schemas, tables wherever they live, and how far one privacy unit moves what is computed."""

from ._batch import Batch as Batch
from ._clipped_rows import clip_rows as clip_rows
from ._datasets import adult as adult
from ._datasets import adult_schema as adult_schema
from ._draft import draft_schema as draft_schema
from ._encode import Encoder as Encoder
from ._engines import ENGINES as ENGINES
from ._engines import open_table as open_table
from ._order import Order as Order
from ._schema import Categorical as Categorical
from ._schema import CsvFormat as CsvFormat
from ._schema import DateTime as DateTime
from ._schema import Hierarchy as Hierarchy
from ._schema import Identifier as Identifier
from ._schema import Numeric as Numeric
from ._schema import Schema as Schema
from ._sensitivity import counts_l1 as counts_l1
from ._sensitivity import counts_l2 as counts_l2
from ._sensitivity import row_steps as row_steps
from ._sensitivity import sum_l2 as sum_l2
from ._statistics import RowSum as RowSum
from ._statistics import SecondMoment as SecondMoment
from ._table import Partition as Partition
from ._table import Statistic as Statistic
from ._table import Table as Table
