"""What load generators are told and what they tell: steps and frames."""
