"""Private statistics where the data lives: counts, sums, means by groups, each with an interval.

Contents
--------
Ask
    `answer(table, [...], epsilon=...)` answers questions: `Count`, `DistinctUnits`, `Sum`, `Mean`, `Variance`,
    `Proportion`, `Histogram`, `Contingency`, `Quantiles`, `Median`, `Minimum`, `Maximum`; `by` asks them group by
    group, also for groups that are not declared (`UnknownKeys`), and `column("age") >= 18` is a `where=`.
Use what was answered
    `StatisticsTable`: a frame with intervals, a summary, a picture, and `release_`.

Public and private
------------------
Public are the schema, the questions, the plan (which noise each gets) and what was answered: noisy numbers, their
intervals, and the shape of the answer, which follows from declared keys, and from released ones. Private are the rows
and the whole-number sums that engines compute of them.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
