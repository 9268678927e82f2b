"""OPM Flow, a reservoir simulator: generated decks, decks of the user, results and their checks."""
