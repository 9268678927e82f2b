"""The data of the planning cube: drawn by seed, written as the files that a cube is loaded from."""
