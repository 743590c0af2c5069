"""The numbers of the papers that Polyculture measures anew: a table of cells each, and how many cells there are."""
