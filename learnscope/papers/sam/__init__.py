"""Chen et al. (2023): why sharpness-aware minimisation generalises better than SGD."""
