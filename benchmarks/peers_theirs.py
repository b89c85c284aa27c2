"""One measurement of another library, run by the Python of its own environment: it imports nothing of this package.

python peers_theirs.py LIBRARY TASK GRAPH.npz prints a line of JSON. Every call is the library's own, with its defaults
or those of its documentation.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import resource
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

STEPS = 2
"""Flips or iterations after which an attack is stopped."""
EPOCHS = 2
"""Epochs of Pro-GNN that are measured."""

Found = dict[str, Any]


class Input:
    """A graph file of ours, as scipy matrices and arrays."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self.adjacency = self._matrix(file, "adj")
            self.features = self._matrix(file, "attr")
            self.labels = file["labels"]
            self.train, self.val, self.test = (file[f"idx_{part}"] for part in ("train", "val", "test"))
        self.others = np.concatenate([self.val, self.test])
        self.nodes, self.columns = map(int, self.features.shape)
        self.classes = int(self.labels.max()) + 1
        self.edges = np.column_stack(sp.triu(self.adjacency).nonzero())

    @staticmethod
    def _matrix(file: Any, name: str) -> sp.csr_matrix:
        parts = tuple(file[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_matrix(parts, shape=tuple(file[f"{name}_shape"]), dtype=np.float32)

    def pyg(self) -> Any:
        """The same as a PyG `Data`."""

        def mask(nodes: Any) -> torch.Tensor:
            return torch.zeros(self.nodes, dtype=torch.bool).index_fill_(0, torch.from_numpy(nodes), True)

        return import_module("torch_geometric.data").Data(
            x=torch.from_numpy(self.features.toarray()),
            edge_index=torch.from_numpy(np.array(self.adjacency.nonzero(), dtype=np.int64)),
            y=torch.from_numpy(self.labels).long(),
            train_mask=mask(self.train),
            val_mask=mask(self.val),
            test_mask=mask(self.test),
        )


class _Enough(Exception):
    """As many steps were measured as are wanted."""


def steps_of(module: str, attack: Callable[[], object]) -> Found:
    """CPU seconds of the first `STEPS` passes of an attack's loop, which shows a progress bar: a bar that stops it."""
    starts: list[float] = []

    def bar(items: Any, **_: Any) -> Iterator[Any]:
        for item in items:
            starts.append(time.process_time())
            if len(starts) > STEPS:
                raise _Enough
            yield item

    vars(import_module(module))["tqdm"] = bar
    with contextlib.suppress(_Enough):
        attack()
    return {"seconds": [float(step) for step in np.diff(starts)]}


def trainings(train: Callable[[], float], count: int) -> Found:
    """CPU seconds and test accuracy of trainings with the seeds 0, 1, …"""
    found: Found = {"seconds": [], "accuracy": []}
    for seed in range(count):
        torch.manual_seed(seed)
        np.random.seed(seed)
        start = time.process_time()
        found["accuracy"].append(train())
        found["seconds"].append(time.process_time() - start)
    return found


def stand_ins() -> None:
    """Make torch_scatter and torch_sparse importable: they are compiled, and have no wheels for this torch.

    What is measured uses `scatter`, which PyG has in pure torch, and the name `SparseTensor` to ask what a tensor is.
    """
    scatter, sparse = types.ModuleType("torch_scatter"), types.ModuleType("torch_sparse")
    pyg = import_module("torch_geometric.utils")

    def scatter_add(source: Any, index: Any, dim: int = -1, out: None = None, dim_size: int | None = None) -> Any:
        return pyg.scatter(source, index, dim, dim_size, "sum")

    vars(scatter).update(scatter=pyg.scatter, scatter_add=scatter_add)
    vars(sparse).update(SparseTensor=type("SparseTensor", (), {}), coalesce=pyg.coalesce)
    vars(sparse).update(dict.fromkeys(("matmul", "mul", "set_diag")))
    sys.modules.update(torch_scatter=scatter, torch_sparse=sparse)


# DeepRobust ----------------------------------------------------------------------------------------------------------


def deeprobust(task: str, graph: Input) -> Found:
    """DeepRobust 0.2.11. Two of its modules use ``warnings`` without importing it."""
    vars(builtins).setdefault("warnings", warnings)
    stand_ins()
    attacks, defense = "deeprobust.graph.global_attack", import_module("deeprobust.graph.defense")
    sizes = {"nfeat": graph.columns, "nclass": graph.classes, "device": "cpu"}
    data = graph.features, graph.adjacency, graph.labels, graph.train

    def linear() -> Any:
        model = defense.GCN(nhid=16, dropout=0, with_relu=False, with_bias=False, **sizes)
        model.fit(*data, graph.val, patience=30)
        return model

    def defended(make: Callable[[], Any], **options: Any) -> Callable[[], float]:
        def train() -> float:
            model = make()
            model.fit(*data, graph.val, **options)
            return float(model.test(graph.test))

        return train

    match task:
        case "mettack":
            model = import_module(attacks).Metattack(
                linear(), nnodes=graph.nodes, feature_shape=graph.features.shape, lambda_=0, device="cpu"
            )
            rest = (graph.others, 500)
            return steps_of(f"{attacks}.mettack", lambda: model.attack(*data, *rest, ll_constraint=False))
        case "minmax" | "pgd":
            tensors = import_module("deeprobust.graph.utils").preprocess(
                graph.adjacency, graph.features, graph.labels, preprocess_adj=False
            )
            adjacency, features, labels = tensors
            victim = defense.GCN(nhid=16, dropout=0.5, weight_decay=5e-4, **sizes)
            victim.fit(features, adjacency, labels, graph.train)
            kind = import_module(attacks).MinMax if task == "minmax" else import_module(attacks).PGDAttack
            model = kind(model=victim, nnodes=graph.nodes, loss_type="CE", device="cpu")
            call = (features, adjacency, labels, graph.train)
            return steps_of(f"{attacks}.topology_attack", lambda: model.attack(*call, n_perturbations=500))
        case "gcn":
            return trainings(defended(lambda: defense.GCN(nhid=16, **sizes)), 5)
        case "gcn after jaccard":
            return trainings(defended(lambda: defense.GCNJaccard(nhid=16, **sizes), threshold=0.01), 5)
        case "gcn after svd":  # with k=50, its default, a row of the low-rank matrix has a negative sum: all is NaN
            return trainings(defended(lambda: defense.GCNSVD(nhid=16, **sizes), k=15), 1)
        case "rgcn":
            return trainings(defended(lambda: defense.RGCN(nnodes=graph.nodes, nhid=32, **sizes)), 1)
        case "simpgcn":
            os.mkdir("saved_knn")  # where it keeps its nearest neighbours, and does not make the folder
            return trainings(defended(lambda: defense.SimPGCN(nnodes=graph.nodes, nhid=128, **sizes)), 1)
        case "median":
            data_list = [graph.pyg()]

            def median() -> float:
                model = defense.MedianGCN(nhid=16, **sizes)
                model.fit(data_list)
                return float(model.test())

            return trainings(median, 1)
        case "prognn":
            options = {"lr": 0.01, "weight_decay": 5e-4, "lr_adj": 0.01, "symmetric": False, "alpha": 5e-4}
            options |= {"beta": 1.5, "gamma": 1.0, "lambda_": 1e-3, "phi": 0, "outer_steps": 1, "inner_steps": 2}
            options |= {"epochs": EPOCHS, "only_gcn": False, "debug": False}
            model = defense.ProGNN(defense.GCN(nhid=16, **sizes), types.SimpleNamespace(**options), "cpu")
            prepared = import_module("deeprobust.graph.utils").preprocess(
                graph.adjacency, graph.features, graph.labels, preprocess_adj=False
            )
            adjacency, features, labels = prepared
            start = time.process_time()
            model.fit(features, adjacency, labels, graph.train, graph.val)
            return {"seconds": [(time.process_time() - start) / EPOCHS]}
    raise ValueError(task)


# GreatX --------------------------------------------------------------------------------------------------------------


def greatx(task: str, graph: Input) -> Found:
    """GreatX 0.0.1b0, the only version on PyPI."""
    stand_ins()
    vars(np).setdefault("Inf", np.inf)  # NumPy 2 has no Inf
    models, training = import_module("greatx.nn.models"), import_module("greatx.training")
    defense = import_module("greatx.defense")
    defense.JaccardPurification.__abstractmethods__ = frozenset()  # PyG's transforms have an abstract `forward` now
    data, split = graph.pyg(), [torch.from_numpy(part) for part in (graph.train, graph.val, graph.test)]
    train, val, test = split

    def fitted(kind: str, data: Any, **settings: Any) -> Any:
        model = getattr(models, kind)(graph.columns, graph.classes, **settings)
        trainer = training.get_trainer(kind)(model, device="cpu")
        best = training.callbacks.ModelCheckpoint("best.pth", monitor="val_acc")
        trainer.fit({"data": data, "mask": train}, {"data": data, "mask": val}, callbacks=[best], verbose=0)
        return trainer

    def defended(kind: str, purify: Callable[[Any], Any] = lambda data: data) -> Callable[[], float]:
        def run() -> float:
            cleaned = purify(data.clone())
            return float(fitted(kind, cleaned).evaluate({"data": cleaned, "mask": test}, verbose=0)["acc"])

        return run

    match task:
        case "mettack" | "minmax" | "pgd":
            names = {"mettack": "Metattack", "minmax": "MinmaxAttack", "pgd": "PGDAttack"}
            module = "metattack" if task == "mettack" else "pgd_attack"
            settings = {"bias": False, "acts": None} if task == "mettack" else {}
            attacker = getattr(import_module("greatx.attack.untargeted"), names[task])(data, device="cpu")
            surrogate = fitted("GCN", data, **settings).model
            if task == "mettack":
                attacker.setup_surrogate(surrogate, train, torch.cat([val, test]), lambda_=0.0)
            else:
                attacker.setup_surrogate(surrogate, train)
            attacker.reset()
            return steps_of(f"greatx.attack.untargeted.{module}", lambda: attacker.attack(500))
        case "gcn":
            return trainings(defended("GCN"), 5)
        case "gcn after jaccard":
            return trainings(defended("GCN", defense.JaccardPurification(0.01)), 5)
        case "rgcn":
            return trainings(defended("RobustGCN"), 2)
        case "median":
            return trainings(defended("MedianGCN"), 2)
        case "gnnguard":
            return trainings(defended("GNNGUARD"), 2)
    raise ValueError(task)


# PyGOD ---------------------------------------------------------------------------------------------------------------


class WholeGraph:
    """PyG's `NeighborLoader` for one batch of all nodes, which is PyGOD's default; the original needs pyg-lib."""

    def __init__(self, data: Any, *_: Any, **__: Any) -> None:
        self.data = data.clone()
        self.data.batch_size, self.data.n_id = data.num_nodes, torch.arange(data.num_nodes)
        self.data.input_id = self.data.n_id

    def __iter__(self) -> Iterator[Any]:
        yield self.data.clone()


def pygod(task: str, graph: Input) -> Found:
    """PyGOD 1.1.0: a detector of nodes, and the scores of edges as its maintainers advise."""
    vars(import_module("pygod.detector.base"))["NeighborLoader"] = WholeGraph
    edges = torch.from_numpy(graph.edges.T)
    found: Found = {"seconds": [], "scores": []}
    for seed in range(1):
        torch.manual_seed(seed)
        np.random.seed(seed)
        start = time.process_time()
        detector = getattr(import_module("pygod.detector"), task)().fit(graph.pyg())
        scores = import_module("pygod.utils").to_edge_score(detector.decision_score_.detach(), edges)
        found["seconds"].append(time.process_time() - start)
        found["scores"].append([round(float(score), 6) for score in scores])
    return found


def main(library: str, task: str, path: str) -> None:
    """Measure in an empty folder, and print the figures with the peak memory in GB, libraries included."""
    measure = {"deeprobust": deeprobust, "greatx": greatx, "pygod": pygod}[library]
    path = os.path.abspath(path)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()):
            found = measure(task, Input(path))
    found["peak_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*islice(sys.argv, 1, 4))
