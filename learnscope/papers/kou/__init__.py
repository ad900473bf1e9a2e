"""Kou, Chen, Chen, Gu (2023): the field's standard phase diagram, and its boundary's exponent."""
