"""Four notebooks, stored as they were executed."""
