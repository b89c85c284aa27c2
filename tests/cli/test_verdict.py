"""The verdict on the command line, ``--for``, and what becomes of edges that were only listed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.review import open_store
from focusedcleaner.runs import read_run
from tests.cli.conftest import JSON, RESULT, fails
from tests.conftest import Command
from tests.sanitizers.helpers import FOUND

JUDGE = ("--method", "judge", "--out", "RUN")
LISTED = sorted([*RESULT, "suspects.csv"])


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("judge")
def test_a_poisoned_graph(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, *JUDGE)
    assert done.exit_code == 0, done.output
    told = words(done.stdout)
    line = "Poisoned: about 8 edges planted (6–12, nine times in ten), expected precision 0.75"
    assert told.startswith(
        f"{line} A clean graph like this one would get 3 flags, this one got 8. Removed 8 of 300 edges."
    )
    assert "8 edges, as the method chose" in told
    assert "suspicious edges that were not removed" in told
    assert "--budget 5%" not in told
    assert sorted(os.listdir("RUN")) == LISTED
    page = words(Path("RUN/report.html").read_text())
    assert '<div class="verdict poisoned"><dt>Verdict</dt><dd>Poisoned' in page
    assert "<strong>about 8</strong> planted edges <small>6–12, nine times in ten</small>" in page
    assert "<strong>0.75</strong> expected precision" in page
    assert page.index("Verdict</dt>") < page.index("<dt>Removed</dt><dd>8") < page.index("</dl>")
    assert "The most suspicious edges" in page
    assert "Expected precision</dt><dd>0.75" in page
    assert "3 edges in a clean graph like this one" in page


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(
    ("status", "line"),
    [
        ("no sign", "No sign of poison"),
        ("uncertain", "Uncertain: a ranking only"),
        ("not suitable", "Not suitable: a clean graph like this one would get 3 flags, this one got 8"),
    ],
)
def test_nothing_is_removed_without_a_finding(cli: Command, graph_file: Path, status: str, line: str) -> None:
    done = cli("sanitize", graph_file, *JUDGE, "--set", f"status={status}")
    assert done.exit_code == 0, done.output
    told = words(done.stdout)
    assert told.startswith(line)
    for expected in (
        "Removed none of 300 edges.",
        "budget none was given",
        "Most suspicious edges; none was removed",
        "planted with probability 0.95",
        "RUN/suspects.csv",
    ):
        assert expected in told
    page = words(Path("RUN/report.html").read_text())
    for text in (told, page):
        assert ("--budget 5%" in text) == (status != "no sign"), "no advice to remove edges from a clean graph"
    assert load_graph("RUN/sanitized.npz").num_edges == 300
    assert f'class="verdict {status.replace(" ", "-")}"' in page
    assert "Most suspicious edges; none was removed</h2>" in page
    assert "The first 16 of 16 suspects" in page
    assert page.count('<span class="rank">') == 2 * FOUND


@pytest.mark.usefixtures("judge")
def test_json_has_the_verdict(cli: Command, graph: Graph) -> None:
    ages = np.column_stack([np.eye(150, 3), np.arange(150) + 40.0])
    save_graph(replace(graph, attributes=ages, attribute_names=None), "graph.npz")
    done = cli("sanitize", "graph.npz", *JUDGE, "--budget", "12", "--json")
    assert done.exit_code == 0, done.output
    fields = json.loads(done.stdout)
    assert list(fields) == JSON
    assert (fields["status"], fields["removed"], fields["suspects"]) == ("poisoned", 12, 4)
    assert fields["reason"] == "a clean graph like this one would get 3 flags, this one got 8"
    assert fields["estimate"] == {"number": 8.4, "low": 6, "high": 12}
    assert (fields["expected_precision"], fields["expected_false_alarms"]) == (0.75, 3.2)
    assert fields["caveat"] == "about 8 edges were planted; 12 were removed because the budget says so"
    assert len(fields["warnings"]) == 1
    assert done.stderr == f"note: {fields['warnings'][0]}\n"
    record = json.loads(Path("RUN/run.json").read_text())
    assert (record["status"], record["verdict"]["status"], record["warnings"]) == (
        *("complete", "poisoned"),
        fields["warnings"],
    )
    again = cli("sanitize", "graph.npz", *JUDGE, "--budget", "12", "--json", "--resume")
    assert json.loads(again.stdout) == fields
    assert words(Path("RUN/report.html").read_text()).count('class="warning"') == 1


def test_warnings_about_the_file_are_among_those_of_the_run(cli: Command, graph: Graph) -> None:
    save_graph(graph, "graph.csv")
    with open("graph.csv", "a") as file:
        file.write(f"{graph.edges[0, 0]},{graph.edges[0, 1]}\n")
    done = cli("sanitize", "graph.csv", "--method", "jaccard", "--budget", "3", "--json")
    *_, warning = json.loads(done.stdout)["warnings"]
    assert warning == "graph.csv: 1 repeated edge was dropped"
    assert done.stderr.endswith(f"note: {warning}\n")


# --for ---------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("judge")
def test_the_purpose_is_a_setting_of_the_method(cli: Command, graph_file: Path) -> None:
    for given, kept in (((), "model"), (("--for", "evidence"), "evidence"), (("--for", "model"), "model")):
        done = cli("sanitize", graph_file, "--method", "judge", *given, "--json")
        folder = json.loads(done.stdout)["out"]
        assert json.loads(Path(folder, "run.json").read_text())["settings"]["purpose"] == kept


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--method", "cld", "--for", "evidence"), "error: cld has no purpose to choose: --for is for "),
        (("--method", "judge", "--for", "proof"), "error: purpose must be model or evidence, not 'proof'"),
        (("--method", "judge", "--for", "model", "--set", "purpose=model"), "the setting purpose is given twice"),
        (("--method", "clean", "--for", "model"), "error: there is no method 'clean'; there are cld, "),
    ],
)
def test_a_purpose_that_can_not_be(cli: Command, given: tuple[str, ...], message: str) -> None:
    fails(cli("sanitize", "nothing.npz", "--out", "RUN", *given), message, left=[])


def test_a_purpose_for_what_auto_chose(cli: Command) -> None:
    rows = [f"u{user},i{item}" for user in range(25) for item in range(25)]
    Path("reviews.csv").write_text("\n".join(["user,item", *rows]))
    refused = cli("sanitize", "reviews.csv", "--for", "evidence", "--out", "RUN")
    fails(refused, "error: dense-blocks has no purpose to choose: --for is for self-attack", left=["reviews.csv"])


# Edges that were only listed -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("judge")
def test_listed_edges_can_be_reviewed(cli: Command, graph_file: Path) -> None:
    assert cli("sanitize", graph_file, *JUDGE, "--set", "status=uncertain").exit_code == 0
    assert cli("review", "RUN", "--export", "empty.csv").exit_code == 0
    assert len(Path("empty.csv").read_text().splitlines()) == 2 * FOUND + 1
    run = read_run("RUN")
    with open_store(run.flagged) as store:
        store.decide(2, "ann", "planted")
    applied = cli("apply", "RUN")
    assert applied.exit_code == 0, applied.output
    gone = load_graph(graph_file).added_edges(load_graph("RUN/reviewed.npz"))
    assert gone.tolist() == [sorted(run.suspects[1].tolist())]
    scored = json.loads(cli("score", "RUN", "--truth", graph_file, "--json").stdout)
    assert (scored["removed"], scored["hits"]) == (0, 0)


@pytest.mark.usefixtures("judge")
def test_a_changed_list_of_suspects_is_not_the_one_that_was_reviewed(cli: Command, graph_file: Path) -> None:
    cli("sanitize", graph_file, *JUDGE, "--set", "status=uncertain")
    assert cli("review", "RUN", "--export", "empty.csv").exit_code == 0
    lines = Path("RUN/suspects.csv").read_text().splitlines()
    Path("RUN/suspects.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    refused = cli("apply", "RUN")
    assert refused.exit_code == 2
    assert "belongs to another run: suspects.csv has changed since the review" in refused.stderr
