"""The page that a privacy officer reads: what was released, what is promised, and why."""

from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .comparison import compare_methods as compare_methods
from .dossier import Dossier as Dossier
from .promise import Sureness as Sureness
from .record import Bars as Bars
from .utility import Accuracy as Accuracy
from .verification.sources import DossierVerification as DossierVerification
from .verification.verify import verify_dossier as verify_dossier
