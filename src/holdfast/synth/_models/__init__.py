"""Models of a table that are made of released values."""
