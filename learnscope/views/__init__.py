"""How results are looked at."""
