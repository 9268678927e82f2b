"""The outline of the planning cube: eight dimensions with the published numbers of members."""
