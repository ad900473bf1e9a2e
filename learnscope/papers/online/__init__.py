"""Online learning of a teacher: soft committee machines, and exit times by information exponent."""
