"""Schema: what is public about a table, declared and never inferred."""

from __future__ import annotations

from holdfast.data.schema.columns import Categorical as Categorical
from holdfast.data.schema.columns import Numeric as Numeric
from holdfast.data.schema.csv_format import CsvFormat as CsvFormat
from holdfast.data.schema.dates import DateTime as DateTime
from holdfast.data.schema.hierarchy import Hierarchy as Hierarchy
from holdfast.data.schema.kinds import Identifier as Identifier
from holdfast.data.schema.schema import Schema as Schema
from holdfast.data.schema.unit import UnconfirmedUnit as UnconfirmedUnit
