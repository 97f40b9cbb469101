"""Private synthetic tables: declared queries in, rows, noisy tables and a certificate out."""

from ._answers import Answers as Answers
from ._catalogue import SYNTHESISERS as SYNTHESISERS
from ._certificate import Certification as Certification
from ._certificate_request import CertificateRequest as CertificateRequest
from ._evaluation import Evaluation as Evaluation
from ._evaluation import evaluate as evaluate
from ._exact_counts import ExactCounts as ExactCounts
from ._forecast import SynthesisEstimate as SynthesisEstimate
from ._models.model import Measurement as Measurement
from ._rows.impossible_rows import Zeros as Zeros
from ._synthesizer import Synthesizer as Synthesizer
from ._workload import Workload as Workload
from ._workload.one_layer import OneLayer as OneLayer
from ._workload.query_classes import Conjunctions as Conjunctions
from ._workload.query_classes import Predicates as Predicates
from ._workload.query_classes import Ranges as Ranges
from ._workload.query_classes import Thresholds as Thresholds
from ._workload.workload import Marginal as Marginal
from .methods.method import SynthesisMethod as SynthesisMethod
