"""SQL that every SQL engine runs, with what its dialect says in its own words."""
