"""A certified sampler of exp(-k [f + (penalty/2)|x|^2]), f a mean of convex losses of linear predictions."""
