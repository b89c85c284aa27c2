"""Finds and removes the edges that an attacker planted in a graph."""
