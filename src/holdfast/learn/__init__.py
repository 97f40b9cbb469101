"""Private learning: methods with proofs, behind scikit-learn's faces."""
