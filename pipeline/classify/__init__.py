"""Texts put under labels by the language model's own probabilities; nothing but a label can come out."""
