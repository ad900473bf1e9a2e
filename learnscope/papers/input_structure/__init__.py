"""Shi, Wei and Liang (2022): features that emerge from inputs, against fixed ones."""
