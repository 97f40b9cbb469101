"""Safe sampling: exact integer noise, exact choice, and idealised noise for inner loops.

Every function takes a `Source` first: there is no hidden generator. Exact samplers have exactly the
law they name. Those of `holdfast.noise._idealised` compute in floating point and are not for releases.
"""

from ._choose import choose_by_score as choose_by_score
from ._choose import choose_many as choose_many
from ._choose import permute_and_flip as permute_and_flip
from ._gaussian import discrete_gaussian as discrete_gaussian
from ._gaussian import rounded_gaussian as rounded_gaussian
from ._idealised import gamma_ball as gamma_ball
from ._laplace import discrete_laplace as discrete_laplace
from ._laplace import truncated_laplace as truncated_laplace
from ._source import Source as Source
from ._uniform import integers as integers
from ._uniform import permutation as permutation
