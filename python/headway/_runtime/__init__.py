"""The driver's runtime: its start and end, nodes, and what workers' environment has."""
