"""Names of :mod:`headway.train` where newer code imports them from."""
