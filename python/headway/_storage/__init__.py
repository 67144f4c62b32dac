"""Where files lie, and how they are read and written: locations, Python filesystems, a run's small
files.
"""
