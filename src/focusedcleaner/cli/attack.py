"""``focusedcleaner attack``: a graph in, a poisoned graph file for each power out."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from focusedcleaner.attacks import Attack, Interrupted, Nettack, Poisoning, attack
from focusedcleaner.budget import edges_allowed
from focusedcleaner.cli.console import Stopped, count, note, print_json, progress_bar, screen
from focusedcleaner.cli.inputs import GraphSource, with_some_split
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import checked_suffix, save_graph
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.settings import parse_pairs


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    given: GraphSource
    method: str
    power: str
    out: Path | None
    targets: str | None
    settings: tuple[str, ...]
    seed: int
    resume: bool


@dataclass(frozen=True)
class Output:
    """A file to write, and the power of its poisoning."""

    power: str
    path: Path


def run(request: Request, *, typed: Sequence[str], json: bool) -> None:
    """Check everything, attack the graph, write the files, tell the result.

    Args:
        request: what to do.
        typed: the command's words, to tell how to go on after an interruption.
        json: whether to print one JSON object.
    """
    method = attack(request.method, **parse_pairs(list(request.settings)))
    outputs = _outputs(request)
    checkpoint = _checkpoint(method, outputs, request)
    graph = with_some_split(request.given.read(), request.seed)
    if request.targets is not None:
        method = _aimed(method, graph, request.targets)
    by_power = sorted(outputs, key=lambda output: edges_allowed(output.power, graph.num_edges, what="power"))
    made = _attack(method, graph, by_power, request, checkpoint, typed)
    fields = [_fields(output, made[output]) for output in outputs]
    if json:
        print_json(fields[0] if len(fields) == 1 else {"method": request.method, "poisonings": fields})
    else:
        _show(outputs, made)


def _outputs(request: Request) -> list[Output]:
    """The file of each power: the name as given for one, with the power in it for several."""
    powers = [power.strip() for power in request.power.split(",")]
    out = request.out or Path(f"{Path(request.given.graph).stem}-{request.method}.npz")
    checked_suffix(out)
    repeated = [power for power in powers if powers.count(power) > 1]
    if repeated:
        raise InputError(f"power {repeated[0]} is given twice")
    with prefix_errors(out):
        if not out.parent.is_dir():
            raise InputError(f"there is no folder {out.parent}")
        if not os.access(out.parent, os.W_OK | os.X_OK):
            raise InputError(f"can't be written: {out.parent} is not writable")
    if len(powers) == 1:
        return [Output(powers[0], out)]
    return [Output(power, out.with_name(f"{out.stem}-{power}{out.suffix}")) for power in powers]


def _checkpoint(method: Attack, outputs: Sequence[Output], request: Request) -> Path:
    """Where the flips are kept after an interruption, after making sure that no file is in the way."""
    first = outputs[0].path
    path = first.with_name(f".{first.name}.flips.npz")
    if path.exists() and not request.resume:
        raise InputError(f"{first}: an attack was cut off here: go on with --resume, or remove {path} to begin again")
    if request.resume and not method.ordered:
        raise InputError(f"{method.name} does not flip one pair after the other, so it can't go on: leave out --resume")
    if request.resume and not path.exists():
        note(f"there is nothing beside {first} to go on from, so the attack begins at the beginning")
    if not path.exists():
        taken = [output.path for output in outputs if output.path.exists()]
        if taken:
            raise InputError(f"{taken[0]}: exists already: choose another name with --out, or remove it")
    return path


def _aimed(method: Attack, graph: Graph, targets: str) -> Attack:
    """The targeted attack with these targets, given by the ids that the graph's owner knows."""
    if not isinstance(method, Nettack):
        raise InputError(f"--targets goes with nettack; {method.name} attacks all nodes together")
    numbers = {str(graph.name(node)): node for node in range(graph.num_nodes)}
    named = [target.strip() for target in targets.split(",")]
    unknown = [target for target in named if target not in numbers]
    if unknown:
        raise InputError(f"there is no node {unknown[0]!r} to be a target: the graph has {graph.num_nodes:,} nodes")
    return replace(method, targets=tuple(numbers[target] for target in named))


def _attack(
    method: Attack, graph: Graph, outputs: Sequence[Output], request: Request, checkpoint: Path, typed: Sequence[str]
) -> dict[Output, Poisoning]:
    """Poison and write, in the order of power; an ordered attack runs once, to the largest."""
    made: dict[Output, Poisoning] = {}
    runs = [outputs] if method.ordered else [[output] for output in outputs]
    try:
        for group in runs:
            with progress_bar("Flipping pairs") as progress:
                whole = method.poison(
                    graph, group[-1].power, seed=request.seed, progress=progress, checkpoint=checkpoint
                )
            made |= {output: whole.prefix(output.power) if method.ordered else whole for output in group}
    except Interrupted as stop:
        done = 0 if stop.poisoning.flips is None else len(stop.poisoning.flips)
        if not done:
            raise Stopped("interrupted before the first flip; nothing was written") from None
        raise Stopped(
            f"interrupted after {done:,} of {stop.poisoning.budget:,} flips, which are kept; "
            f"go on with: {_again(typed)}"
        ) from None
    except KeyboardInterrupt:
        raise Stopped("interrupted; nothing was written") from None
    for output, poisoning in made.items():
        save_graph(poisoning.graph, output.path)
    checkpoint.unlink(missing_ok=True)
    return made


def _again(typed: Sequence[str]) -> str:
    """The command that goes on with an interrupted attack."""
    words = ["focusedcleaner", *typed]
    return shlex.join(words if "--resume" in typed else [*words, "--resume"])


def _fields(output: Output, poisoning: Poisoning) -> dict[str, object]:
    return {
        "method": poisoning.method,
        "power": output.power,
        "added": len(poisoning.added),
        "removed": len(poisoning.removed),
        "seconds": round(poisoning.seconds, 3),
        "out": str(output.path),
    }


def _show(outputs: Sequence[Output], made: dict[Output, Poisoning]) -> None:
    console = screen()
    for output in outputs:
        poisoning = made[output]
        changed = f"{count(len(poisoning.added), 'edge')} added, {len(poisoning.removed):,} removed"
        console.print(f"{output.path}  {output.power}: {changed}", soft_wrap=True)
        if len(poisoning.added) + len(poisoning.removed) < poisoning.budget:
            note(f"{output.power} would have been {poisoning.budget:,} flips, but there was no further suitable pair")
    whole = made[outputs[-1]]
    console.print(f"{whole.method}, seed {whole.seed}, {max(one.seconds for one in made.values()):.1f} s")
