"""Generators: mixtures of products of columns, trained on noisy values by gradient descent. All is post-processing."""
