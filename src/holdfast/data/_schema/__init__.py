"""Schema: what is public about a table, declared and never inferred."""

from __future__ import annotations

from holdfast.data._schema.columns import Categorical as Categorical
from holdfast.data._schema.columns import Numeric as Numeric
from holdfast.data._schema.csv_format import CsvFormat as CsvFormat
from holdfast.data._schema.dates import DateTime as DateTime
from holdfast.data._schema.hierarchy import Hierarchy as Hierarchy
from holdfast.data._schema.kinds import Identifier as Identifier
from holdfast.data._schema.schema import Schema as Schema
from holdfast.data._schema.unit import UnconfirmedUnit as UnconfirmedUnit
