"""Private statistics where the data lives: counts, sums, means, quantiles by groups, each with an interval."""

from ._accuracy import Width as Width
from ._answer import answer as answer
from ._columns import column as column
from ._explain import Explanation as Explanation
from ._explain import explain as explain
from ._questions.count import Count as Count
from ._questions.count import DistinctUnits as DistinctUnits
from ._questions.grouping import by as by
from ._questions.histogram import Contingency as Contingency
from ._questions.histogram import Histogram as Histogram
from ._questions.mean import Mean as Mean
from ._questions.mean import Proportion as Proportion
from ._questions.mean import Variance as Variance
from ._questions.quantiles import Maximum as Maximum
from ._questions.quantiles import Median as Median
from ._questions.quantiles import Minimum as Minimum
from ._questions.quantiles import Quantiles as Quantiles
from ._questions.question import TableQuestion as TableQuestion
from ._questions.total import Sum as Sum
from ._sql.query import StatisticsQuery as StatisticsQuery
from ._table_of_answers import StatisticsTable as StatisticsTable
from ._unknown_keys import UnknownKeys as UnknownKeys
