"""A browser's recording (HAR) becomes a scenario."""
