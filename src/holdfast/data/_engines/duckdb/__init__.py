"""DuckDB: files, folders and database tables, read in process."""
