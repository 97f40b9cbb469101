"""The contracts that every mechanism, method, attack, engine and column kind keeps, to call on your own."""

from .attacks import attack_checks as attack_checks
from .attributes import attribute_checks as attribute_checks
from .checks import check_attack as check_attack
from .checks import check_attribute_attack as check_attribute_attack
from .checks import check_column as check_column
from .checks import check_disclosure as check_disclosure
from .checks import check_engine as check_engine
from .checks import check_mechanism as check_mechanism
from .checks import check_method as check_method
from .checks import check_synthesizer as check_synthesizer
from .checks import mechanism_checks as mechanism_checks
from .checks import method_checks as method_checks
from .columns import column_checks as column_checks
from .contract import Check as Check
from .disclosures import disclosure_checks as disclosure_checks
from .engines import EngineStore as EngineStore
from .engines import engine_checks as engine_checks
from .transcripts import check_freshness as check_freshness
from .transcripts import check_replay as check_replay
from .transcripts import check_sampling as check_sampling
