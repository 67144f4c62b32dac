"""Checkpoints: directories of files, with metadata, and those that are a dict."""
