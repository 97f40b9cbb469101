"""Rows: coded, made to fit released tables, kept possible."""
