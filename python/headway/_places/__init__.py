"""Modules that have no file: names under the places where users' scripts, and pickles, look for
them.
"""
