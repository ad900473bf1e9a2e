"""How data sets of images are stored: one file a format. Nothing read here is ever executed."""
