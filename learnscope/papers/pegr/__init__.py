"""Meng, Cao, Zou (2023): per-example gradient regularisation learns signal, suppresses noise."""
