"""The command line: a file per command, and modules that only one command needs."""
