"""How much a model's output depends on one column, and how well the column is guessed from it. Epsilon is no limit."""
