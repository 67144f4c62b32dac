"""Engines: bridges to what gives a driver more nodes, and the checks of their options."""
