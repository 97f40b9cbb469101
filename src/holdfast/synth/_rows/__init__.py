"""Synthetic rows: as cell codes and as values, fitted to released tables, free of impossible combinations."""
