"""Generators: mixtures of products, trained on noisy values by gradient descent. Post-processing throughout."""
