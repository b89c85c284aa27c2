"""Hostile input: tables of bad files, options and run folders, mutated files, and odd graphs for every method."""
