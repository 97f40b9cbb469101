"""Adding to holdfast: a toy of each kind in a copy of the tree, and what asks for more than its file and its line."""
