"""holdfast: publish a model or a synthetic table with a promise people can check.

The dozen names a user types. Everything is loaded when it is first used.
"""

from .data import Categorical as Categorical
from .data import Encoder as Encoder
from .data import Numeric as Numeric
from .data import Schema as Schema
from .data import open_table as open_table
from .ledger import Ledger as Ledger
from .privacy import Account as Account
from .privacy import Adjacency as Adjacency
from .privacy import Guarantee as Guarantee
from .privacy import PrivacyUnit as PrivacyUnit
from .privacy import TradeOff as TradeOff
from .release import Release as Release

__version__: str
