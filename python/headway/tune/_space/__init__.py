"""Search spaces: what a parameter may be, and how a configuration is drawn."""
