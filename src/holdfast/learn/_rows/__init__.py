"""Rows as methods take them: examples, batches, sums and epochs, wherever the rows lie."""
