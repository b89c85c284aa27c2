"""Exported decisions."""

from __future__ import annotations

import csv
import io
import json

from starlette.testclient import TestClient

from focusedcleaner.review.page import Review


def test_exports(client: TestClient, review: Review) -> None:
    review.store.decide(1, "ann", "planted", "=1+1")
    review.store.decide(1, "bob", "genuine")
    review.store.decide(2, "ann", "unsure")
    answer = client.get("/export.csv")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="review.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 40
    run = review.edges.run
    assert (rows[0]["u"], rows[0]["v"]) == tuple(str(run.graph.name(node)) for node in run.removed[0])
    assert (rows[0]["verdict"], rows[0]["planted_by"], rows[0]["genuine_by"], rows[0]["notes"]) == (
        "conflict",
        "ann",
        "bob",
        "ann: =1+1",
    )
    assert (rows[1]["verdict"], rows[1]["unsure_by"], rows[39]["verdict"]) == ("unsure", "ann", "open")
    whole = json.loads(client.get("/export.json").text)
    assert whole["counts"] == {"planted": 0, "genuine": 0, "unsure": 1, "conflict": 1, "open": 38}
    assert [one["note"] for one in whole["edges"][0]["decisions"]] == ["=1+1", ""]
    assert client.get("/export.xml").status_code == 400
