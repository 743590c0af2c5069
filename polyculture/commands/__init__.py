"""One file per verb of the command line; `polyculture.cli` puts them together."""
