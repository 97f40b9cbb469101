"""Intervals and p-values for released coefficients, computed from the release alone (soundness, section 26)."""
