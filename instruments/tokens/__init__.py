"""Tokenizers: how much of a vocabulary is a language's own, and into how many tokens entities fall."""
