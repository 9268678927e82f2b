"""The steps of a cycle as statements: one text, and what engines do each in their own way."""
