"""Rows as learning methods read them: in chunks, batches or sums, from memory, a file or a database."""
