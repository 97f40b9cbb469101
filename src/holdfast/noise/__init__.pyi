"""Safe sampling: exact integer noise, exact choice, and idealised noise for inner loops.

Every function takes a `Source` first: there is no hidden generator. Exact samplers have exactly the
law they name; those of `idealised` are real arithmetic in doubles and not for releases. Coins are in
`holdfast.noise.bernoulli`, whose name is that of its first function.
"""

from .choose import choose_by_score as choose_by_score
from .choose import choose_many as choose_many
from .choose import permute_and_flip as permute_and_flip
from .gaussian import discrete_gaussian as discrete_gaussian
from .gaussian import rounded_gaussian as rounded_gaussian
from .idealised import gamma_ball as gamma_ball
from .laplace import discrete_laplace as discrete_laplace
from .laplace import truncated_laplace as truncated_laplace
from .source import Source as Source
from .uniform import integers as integers
from .uniform import permutation as permutation
