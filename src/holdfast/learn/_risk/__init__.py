"""Risks with their gradients and second derivatives, noisy gradient descent, and a certified minimiser."""
