"""Privacy curves: delta for every epsilon, one file for each law or rule."""
