"""Self-attack: learns what planted edges look like by planting some."""

from focusedcleaner.sanitizers.self_attack.sanitizer import PlantedEdges, SelfAttack

__all__ = ["PlantedEdges", "SelfAttack"]
