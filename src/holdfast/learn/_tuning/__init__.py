"""Private choice among candidates: searches over settings, and their cost."""
