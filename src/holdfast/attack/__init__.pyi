"""Attacks: was a record in the training data, and what is an attribute of a person? Results are for the owner only."""

from .attributes import ATTRIBUTE_ATTACKS as ATTRIBUTE_ATTACKS
from .attributes.attribute_risk import attribute_risk as attribute_risk
from .attributes.case import AttributeAttack as AttributeAttack
from .attributes.case import AttributeCase as AttributeCase
from .attributes.result import AttributeReport as AttributeReport
from .attributes.result import AttributeRisk as AttributeRisk
from .models import ATTACKS as ATTACKS
from .models.attack import Attack as Attack
from .models.attack import Case as Case
from .models.membership import membership as membership
from .models.shadow import References as References
from .models.shadow import reference_models as reference_models
from .models.target import Target as Target
from .models.thresholds import Threshold as Threshold
from .records import Records as Records
from .report import MembershipReport as MembershipReport
from .result import AttackResult as AttackResult
from .result import Exposed as Exposed
from .roc import Rate as Rate
from .rows import ROWS_ATTACKS as ROWS_ATTACKS
from .rows.released_rows import ReleasedRows as ReleasedRows
from .rows.released_rows import RowsAttack as RowsAttack
from .rows.released_rows import RowsCase as RowsCase
from .rows.released_rows import Seen as Seen
from .rows.shadow_release import shadow_release as shadow_release
from .rows.synthetic_membership import synthetic_membership as synthetic_membership
