"""Pictures of runs and experiments, as SVG and PNG."""
