"""Zuo et al. (2023): why meta-learning splits its data."""
