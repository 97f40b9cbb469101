"""Private statistics where the data lives: counts, sums, means by groups, each with an interval."""

from ._answer import answer as answer
from ._columns import column as column
from ._questions.count import Count as Count
from ._questions.grouping import by as by
from ._questions.mean import Mean as Mean
from ._questions.question import TableQuestion as TableQuestion
from ._table_of_answers import StatisticsTable as StatisticsTable
