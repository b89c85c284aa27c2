"""Self-attack: learns what planted edges look like by planting some."""

from focusedcleaner.sanitizers.self_attack.detector import PlantedEdges
from focusedcleaner.sanitizers.self_attack.sanitizer import SelfAttack

__all__ = ["PlantedEdges", "SelfAttack"]
