"""Controllers and agents written in Python, to begin with and to measure by."""
