"""Zou, Cao, Li, Gu (2021): why Adam generalises worse than gradient descent."""
