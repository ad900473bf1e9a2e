"""How a prediction head prevents collapse (Wen and Li 2022)."""
