"""A run as the driver sees it: its events, display, callbacks, result, and what is stored to
restore it.
"""
