"""Learning what planted edges look like, by planting some: clues, attackers, and the rounds between them."""
