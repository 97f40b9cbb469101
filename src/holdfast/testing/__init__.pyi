"""The contracts that every mechanism, method and engine keeps, as functions to call on your own."""

from .checks import check_engine as check_engine
from .checks import check_mechanism as check_mechanism
from .checks import check_method as check_method
from .checks import mechanism_checks as mechanism_checks
from .checks import method_checks as method_checks
from .contract import Check as Check
from .engines import EngineStore as EngineStore
from .engines import engine_checks as engine_checks
from .transcripts import check_freshness as check_freshness
from .transcripts import check_replay as check_replay
from .transcripts import check_sampling as check_sampling
