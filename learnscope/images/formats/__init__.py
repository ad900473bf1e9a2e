"""Readers of stored data sets, one file per format. No reader executes what it reads."""
