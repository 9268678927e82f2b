"""Power meters: what they read, and how the watts of a stretch of time are worked out of it."""
