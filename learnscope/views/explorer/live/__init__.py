"""The live page: move a slider, and the experiment is trained again."""
