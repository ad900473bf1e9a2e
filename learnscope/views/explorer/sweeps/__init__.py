"""The sweeps page: what is stored, as maps, and the runs of a cell."""
