"""Xu and Chen (2025): benign overfitting, where every class has its own noise."""
