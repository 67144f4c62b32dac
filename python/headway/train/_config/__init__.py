"""What a run is asked to do: the configuration classes and their checks."""
