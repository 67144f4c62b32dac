"""Python functions of a data pipeline: the process that forks their workers, and what a worker
does.
"""
