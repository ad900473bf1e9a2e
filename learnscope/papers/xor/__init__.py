"""Meng, Zou, Cao (2024): benign overfitting of ReLU CNNs on XOR data."""
