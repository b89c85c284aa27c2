"""``focusedcleaner attack``: poison a graph and write a graph file, or a graph folder of one, for each power."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from focusedcleaner import attacks
from focusedcleaner.attacks import Attack, Interrupted, Nettack, Poisoning
from focusedcleaner.budget import edges_allowed, read_budget
from focusedcleaner.cli.console import Stopped, note, print_json, progress_bar, resume_command, screen
from focusedcleaner.cli.inputs import read_graph_with_split
from focusedcleaner.cli.options import AttackOptions
from focusedcleaner.cli.signals import deferred
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.formatting import count
from focusedcleaner.graph import Graph, no_pairs
from focusedcleaner.io import check_savable, checked_suffix, graph_files, load_graph
from focusedcleaner.io.folder import is_folder, open_folder
from focusedcleaner.io.folder_writer import write_folder
from focusedcleaner.io.transaction import lock_file, recover, write_files
from focusedcleaner.scoring import aligned
from focusedcleaner.settings import parse_pairs


def attack(options: AttackOptions) -> None:
    """Check the options, attack the graph, write the files and print the result."""
    attacker = attacks.attack(options.method, **parse_pairs(options.settings or []))
    of_folder = is_folder(Path(options.graph))
    suffix = "" if of_folder else ".npz"
    out = options.out or Path(f"{Path(options.graph).stem}-{options.method}{suffix}")
    if not (of_folder and not out.suffix):
        checked_suffix(out)
    outputs = _outputs(options.power, out)
    first, *_ = outputs.values()
    place = first if first.suffix else first.with_name(f"{first.name}.attack")  # whoever writes a folder locks its name
    with lock_file(place):
        for output in outputs.values():
            recover(output.parent, only=output.name)
        checkpoint = _checkpoint(attacker, list(outputs.values()), options.resume)
        graph = read_graph_with_split(options, options.seed)
        if first.suffix:
            check_savable(graph, first)
        if options.targets is not None:
            attacker = _targeted(attacker, graph, options.targets)
        ascending = sorted(outputs, key=lambda power: edges_allowed(power, graph.num_edges, what="power"))
        if options.resume and not checkpoint.exists() and first.exists():
            poisonings = {power: _finished(outputs[power], power, attacker, graph, options.seed) for power in ascending}
            note(f"{first} is complete already")
        else:
            poisonings = _attack(attacker, graph, ascending, options, checkpoint)
            _save(outputs, poisonings, checkpoint)
    if options.json:
        fields = [
            {
                "method": poisonings[power].method,
                "power": power,
                "added": len(poisonings[power].added),
                "removed": len(poisonings[power].removed),
                "seconds": round(poisonings[power].seconds, 3),
                "out": str(path),
            }
            for power, path in outputs.items()
        ]
        print_json(fields[0] if len(fields) == 1 else {"method": options.method, "poisonings": fields})
    else:
        _show(outputs, poisonings)


def _outputs(power: str, out: Path) -> dict[str, Path]:
    """The file of each power: ``out`` for a single power, else its name with the power inserted."""
    powers = [each.strip() for each in power.split(",")]
    first: dict[tuple[float, bool], str] = {}
    for each in powers:
        same = first.setdefault(read_budget(each, what="power"), each)
        if powers.count(each) > 1 or same != each:
            raise InputError(f"power {each} is given twice" + (f": {same} is the same" if same != each else ""))
    with prefix_errors(out):
        if not out.parent.is_dir():
            raise InputError(f"there is no folder {out.parent}")
        if not os.access(out.parent, os.W_OK | os.X_OK):
            raise InputError(f"can't be written: {out.parent} is not writable")
    if len(powers) == 1:
        return {powers[0]: out}
    return {each: out.with_name(f"{out.stem}-{each}{out.suffix}") for each in powers}


def _checkpoint(attacker: Attack, paths: list[Path], resume: bool) -> Path:
    """The file that keeps the flips of an interrupted attack; no output file may exist, or all of a finished one."""
    path = paths[0].with_name(f".{paths[0].name}.flips.npz")
    with prefix_errors(paths[0]):
        path.exists()  # of a name that is too long
    if resume and not attacker.ordered:
        raise InputError(f"{attacker.name} does not flip pairs one by one and can't be resumed: leave out --resume")
    if path.exists():
        if not resume:
            start = f"continue it with --resume, or remove {path} to start again"
            raise InputError(f"{paths[0]}: an attack was interrupted here: {start}")
        return path
    if resume and all(output.exists() for output in paths):
        return path
    if resume:
        note(f"there is no attack on {paths[0]} to resume, so it starts from the beginning")
    for output in paths:
        if output.exists():
            raise InputError(f"{output}: exists already: choose another name with --out, or remove it")
    return path


def _targeted(attacker: Attack, graph: Graph, targets: str) -> Attack:
    """The attack with these targets, given by their ids in the graph file."""
    if not isinstance(attacker, Nettack):
        raise InputError(f"--targets goes with nettack; {attacker.name} attacks all nodes together")
    numbers = {str(graph.name(node)): node for node in range(graph.num_nodes)}
    try:
        return replace(attacker, targets=tuple(numbers[target.strip()] for target in targets.split(",")))
    except KeyError as unknown:
        size = f"the graph has {graph.num_nodes:,} nodes"
        raise InputError(f"there is no node {unknown} to be a target: {size}") from None


def _attack(
    attacker: Attack, graph: Graph, powers: list[str], options: AttackOptions, checkpoint: Path
) -> dict[str, Poisoning]:
    """A poisoning for each power; an attack that flips pairs one by one runs once, to the largest power."""
    poisonings: dict[str, Poisoning] = {}
    try:
        for group in [powers] if attacker.ordered else [[power] for power in powers]:
            with progress_bar("Flipping pairs") as progress:
                largest = attacker.poison(graph, group[-1], seed=options.seed, progress=progress, checkpoint=checkpoint)
            poisonings |= {power: largest.prefix(power) if attacker.ordered else largest for power in group}
    except Interrupted as stop:
        flips = 0 if stop.poisoning.flips is None else len(stop.poisoning.flips)
        if not flips:
            raise Stopped("interrupted before the first flip; nothing was written") from None
        kept = f"{flips:,} of {stop.poisoning.budget:,} flips, which are kept"
        raise Stopped(f"interrupted after {kept}; continue with: {resume_command(options.ctx.obj)}") from None
    except KeyboardInterrupt:
        raise Stopped("interrupted; nothing was written") from None
    return poisonings


def _record(poisoning: Poisoning) -> str:
    """The attack in the notes of a poisoned graph, by which a finished one is known again."""
    about = {name: getattr(poisoning, name) for name in ("method", "settings", "budget", "seed")}
    return json.dumps({**about, "clean": poisoning.clean.fingerprint()}, sort_keys=True)


def _save(outputs: dict[str, Path], poisonings: dict[str, Poisoning], checkpoint: Path) -> None:
    """Write the graphs of all powers and remove the checkpoint, in one transaction; graph folders one by one."""
    contents: dict[Path, bytes] = {}
    try:
        with deferred():
            for power, poisoning in poisonings.items():
                record = _record(poisoning)
                graph = replace(poisoning.graph, notes={**poisoning.graph.notes, "attack": record})
                if outputs[power].suffix:
                    contents |= graph_files(graph, outputs[power])
                else:  # of the same attack, a folder that was cut off is completed
                    write_folder(outputs[power], {"attack": record}, graph, resume=True)
            write_files(contents, remove=[checkpoint])
    except KeyboardInterrupt:
        raise Stopped("interrupted; the attack was finished and written") from None


def _finished(path: Path, power: str, attacker: Attack, clean: Graph, seed: int) -> Poisoning:
    """The poisoning that an output file holds; the file must say that it is of this attack."""
    graph = load_graph(path) if path.suffix else open_folder(path)
    budget = edges_allowed(power, clean.num_edges, what="power")
    wanted = Poisoning(clean, no_pairs(), no_pairs(), attacker.name, attacker.settings(), budget, seed, seconds=0.0)
    if graph.notes.get("attack") != _record(wanted) or graph.num_nodes != clean.num_nodes:
        raise InputError(f"{path}: exists already: choose another name with --out, or remove it")
    if graph.stored is not None:
        graph = aligned(graph, clean)  # nodes without ids of their own stand in an order that depends on the edges
    return replace(wanted, added=graph.added_edges(clean), removed=clean.added_edges(graph))


def _show(outputs: dict[str, Path], poisonings: dict[str, Poisoning]) -> None:
    console = screen()
    for power, path in outputs.items():
        poisoning = poisonings[power]
        changed = f"{count(len(poisoning.added), 'edge')} added, {len(poisoning.removed):,} removed"
        console.print_line(f"{path}  {power}: {changed}")
        if len(poisoning.added) + len(poisoning.removed) < poisoning.budget:
            note(f"{power} allows {poisoning.budget:,} flips, but there was no further suitable pair")
    seconds = max(poisoning.seconds for poisoning in poisonings.values())
    console.print(f"{poisoning.method}, seed {poisoning.seed}, {seconds:.1f} s")
