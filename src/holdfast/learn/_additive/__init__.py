"""Private additive models: a sum of shape functions of single columns and of pairs, each a released table."""
