"""holdfast: publish a model or a synthetic table with a promise people can check.

The names a user types, and the rooms where the rest is. Everything is loaded when it is first used.
"""

from . import attack as attack
from . import audit as audit
from . import data as data
from . import dossier as dossier
from . import errors as errors
from . import learn as learn
from . import ledger as ledger
from . import plan as plan
from . import privacy as privacy
from . import refute as refute
from . import release as release
from . import statistics as statistics
from . import synth as synth
from . import testing as testing
from .attack import attribute_risk as attribute_risk
from .attack import membership as membership
from .data import Categorical as Categorical
from .data import Encoder as Encoder
from .data import Identifier as Identifier
from .data import Numeric as Numeric
from .data import Schema as Schema
from .data import adult as adult
from .data import open_table as open_table
from .data._sensitivity import counts_l1 as counts_l1
from .data._sensitivity import counts_l2 as counts_l2
from .data._sensitivity import sum_l2 as sum_l2
from .dossier import Dossier as Dossier
from .dossier import verify_dossier as verify_dossier
from .learn import PrivateAdditiveClassifier as PrivateAdditiveClassifier
from .learn import PrivateAdditiveRegressor as PrivateAdditiveRegressor
from .learn import PrivateHuberRegression as PrivateHuberRegression
from .learn import PrivateLasso as PrivateLasso
from .learn import PrivateLinearRegression as PrivateLinearRegression
from .learn import PrivateLinearSVC as PrivateLinearSVC
from .learn import PrivateLogisticRegression as PrivateLogisticRegression
from .learn import PrivateRidge as PrivateRidge
from .learn import PrivateSearch as PrivateSearch
from .learn import load_model as load_model
from .ledger import Ledger as Ledger
from .privacy import Account as Account
from .privacy import Adjacency as Adjacency
from .privacy import ApproxDP as ApproxDP
from .privacy import Guarantee as Guarantee
from .privacy import PrivacyUnit as PrivacyUnit
from .privacy import PureDP as PureDP
from .privacy import TradeOff as TradeOff
from .privacy import compose as compose
from .release import Release as Release
from .release._certificate import Certificate as Certificate
from .synth import Marginal as Marginal
from .synth import Synthesizer as Synthesizer
from .synth import Workload as Workload

__version__: str
