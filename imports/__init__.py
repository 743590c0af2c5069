"""Texts that somebody else generated, read from their files into the store's responses."""
