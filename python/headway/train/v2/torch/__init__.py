"""Where newer code imports names for torch from."""
