"""Callbacks that carry the reports of other libraries to a trial."""
