"""Spark: data frames, classic and Connect."""
