"""A documented part of SQL, turned into questions; what is not in it is refused, with a form that works."""
