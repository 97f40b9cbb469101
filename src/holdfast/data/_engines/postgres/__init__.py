"""PostgreSQL: rows pulled, sums in plain SQL, or descent inside the server."""
