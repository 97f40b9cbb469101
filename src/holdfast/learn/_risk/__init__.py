"""Risks with their gradients, the one noisy descent and the one certified minimiser."""
