"""Learning what planted edges look like, by planting some: clues, attackers, and the rounds between them."""

SIMULATED = "mettack,unrolled,minmax,targeted,dice,random"
"""The attackers that are simulated where nobody says otherwise."""
