"""Xu and Chen (2025): overfitting that helps, where every class has noise of its own."""
