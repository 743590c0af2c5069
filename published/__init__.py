"""The numbers of the papers that Polyculture measures anew: a table of cells each."""
