"""Private additive models: sums of shape functions of single columns and of pairs, each a released table."""
