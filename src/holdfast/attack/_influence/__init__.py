"""How much one column moves what a model shows, and what others can guess from it. Epsilon does not limit this."""
