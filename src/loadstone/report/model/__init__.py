"""The report document, by subject; `document.py` is the whole of it."""
