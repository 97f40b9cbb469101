"""A mechanism, a learner, an attack, an engine and a column kind for holdfast, in a package of their own."""
