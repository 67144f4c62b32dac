"""The command line, ``headway ...``: what it says and how; the core does the work."""
