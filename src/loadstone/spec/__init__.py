"""The experiment as data: target, profile, designs, and the plans of its trials."""
