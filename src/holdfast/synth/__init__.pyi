"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out.

`Synthesizer` is the door. A method (`methods`) turns exact counts into a model (`models`) for a workload (`workload`);
rows are drawn from the model (`rows`), and what can be said of their errors is `certificate`.
"""

from .answers import Answers as Answers
from .certificate import Certification as Certification
from .evaluation import Evaluation as Evaluation
from .evaluation import evaluate as evaluate
from .exact_counts import Counted as Counted
from .exact_counts import ExactCounts as ExactCounts
from .forecast import Estimate as Estimate
from .forecast import SynthesisEstimate as SynthesisEstimate
from .methods import METHODS as METHODS
from .methods.method import SynthesisMethod as SynthesisMethod
from .models.model import Measurement as Measurement
from .rows.impossible_rows import Zeros as Zeros
from .synthesizer import Synthesizer as Synthesizer
from .workload import Workload as Workload
from .workload.one_layer import OneLayer as OneLayer
from .workload.query_classes import Conjunctions as Conjunctions
from .workload.query_classes import Predicates as Predicates
from .workload.query_classes import Ranges as Ranges
from .workload.query_classes import Thresholds as Thresholds
from .workload.workload import Marginal as Marginal
