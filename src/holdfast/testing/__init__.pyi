"""The contracts that every mechanism, method, attack, engine and column kind keeps, to call on your own."""

from ._attacks import attack_checks as attack_checks
from ._checks import check_attack as check_attack
from ._checks import check_column as check_column
from ._checks import check_engine as check_engine
from ._checks import check_mechanism as check_mechanism
from ._checks import check_method as check_method
from ._checks import check_synthesizer as check_synthesizer
from ._checks import mechanism_checks as mechanism_checks
from ._checks import method_checks as method_checks
from ._columns import column_checks as column_checks
from ._contract import Check as Check
from ._engines import EngineStore as EngineStore
from ._engines import engine_checks as engine_checks
from ._transcripts import check_freshness as check_freshness
from ._transcripts import check_replay as check_replay
from ._transcripts import check_sampling as check_sampling
