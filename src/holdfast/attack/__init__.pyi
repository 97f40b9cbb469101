"""Attacks by the owner: was a record in the data, and what is an attribute of a person? Results stay inside.

By task: `membership` attacks a model, `synthetic_membership` released rows, `attribute_risk` a column of people by
either, `synthetic_disclosure` whole people by rows; each plays the attacks of `ATTACKS` that are of its kind, and gives
an `AttackReport`. `shadow_release` attacks a synthesiser that can be run. `invertibility` and `publishing_options`
measure what any model shows about one column; nothing is released and no proof bounds it, so they are no attacks.

A new attack is an `Attack`: what it attacks, what it knows, and a function from a `Case` to guesses. A case never holds
the answers. Everything that comes out is a function of private data, and none of it is for publication.
"""

from ._attack import Attack as Attack
from ._attack import Case as Case
from ._attacks import ATTACKS as ATTACKS
from ._attribute_risk import attribute_risk as attribute_risk
from ._attributes.attacker import Attacker as Attacker
from ._attributes.attacker import Scoring as Scoring
from ._attributes.attribute_case import AttributeCase as AttributeCase
from ._attributes.attribute_result import AttributeResult as AttributeResult
from ._influence.invertibility import invertibility as invertibility
from ._influence.publishing_options import PublishingOptions as PublishingOptions
from ._influence.publishing_options import Retraining as Retraining
from ._influence.publishing_options import publishing_options as publishing_options
from ._influence.ranking import InvertibilityReport as InvertibilityReport
from ._influence.two_worlds import Advantage as Advantage
from ._influence.two_worlds import BlackBoxGame as BlackBoxGame
from ._influence.two_worlds import LayeredModel as LayeredModel
from ._influence.two_worlds import WhiteBoxGame as WhiteBoxGame
from ._membership import membership as membership
from ._membership_result import Exposed as Exposed
from ._membership_result import MembershipResult as MembershipResult
from ._models.model_case import ModelCase as ModelCase
from ._models.shadow import References as References
from ._models.shadow import ShadowModels as ShadowModels
from ._models.shadow import reference_models as reference_models
from ._models.target import Target as Target
from ._models.thresholds import Threshold as Threshold
from ._records import Records as Records
from ._report import AttackReport as AttackReport
from ._report import AttackResult as AttackResult
from ._roc import Rate as Rate
from ._rows.disclosure_case import DisclosureCase as DisclosureCase
from ._rows.disclosure_result import DisclosureResult as DisclosureResult
from ._rows.released_rows import ReleasedRows as ReleasedRows
from ._rows.rows_case import RowsCase as RowsCase
from ._shadow_release import shadow_release as shadow_release
from ._synthetic_disclosure import synthetic_disclosure as synthetic_disclosure
from ._synthetic_membership import synthetic_membership as synthetic_membership
