"""Declared data: schemas, tables wherever they live, and how far one privacy unit moves what is computed."""

from .datasets import adult as adult
from .datasets import adult_schema as adult_schema
from .draft import draft_schema as draft_schema
from .encode import Encoder as Encoder
from .encode import clip_rows as clip_rows
from .engines import ENGINES as ENGINES
from .engines import open_table as open_table
from .order import Order as Order
from .rows import Batch as Batch
from .schema import Categorical as Categorical
from .schema import CsvFormat as CsvFormat
from .schema import DateTime as DateTime
from .schema import Hierarchy as Hierarchy
from .schema import Identifier as Identifier
from .schema import Numeric as Numeric
from .schema import Schema as Schema
from .sensitivity import counts_l1 as counts_l1
from .sensitivity import counts_l2 as counts_l2
from .sensitivity import row_steps as row_steps
from .sensitivity import sum_l2 as sum_l2
from .statistics import RowSum as RowSum
from .statistics import SecondMoment as SecondMoment
from .table import Partition as Partition
from .table import Statistic as Statistic
from .table import Table as Table
