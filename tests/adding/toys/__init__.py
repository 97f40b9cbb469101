"""What is added to the copy: a file of each kind, as somebody would write it."""
