"""The command line: a file per command, and what only that command needs beside it."""
