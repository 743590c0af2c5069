"""Tokenizers: the share of a language in a vocabulary, and the number of tokens per entity."""
