"""The page that a privacy officer reads: what was released, what is promised, and why."""

from ._comparison import Comparison as Comparison
from ._comparison import compare as compare
from ._comparison import compare_methods as compare_methods
from ._dossier import Dossier as Dossier
from ._promise import Sureness as Sureness
from ._record import Bars as Bars
from ._utility import Accuracy as Accuracy
from ._verification.findings import DossierVerification as DossierVerification
from ._verification.verify import verify_dossier as verify_dossier
