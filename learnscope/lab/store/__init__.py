"""Stored sweeps: written block by block, checked when read, reused by sweeps that share runs."""
