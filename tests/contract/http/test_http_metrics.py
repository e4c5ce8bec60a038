"""``/metrics`` for Prometheus, the same from both servers."""

import re

from scripted_service import CHUNK_ID, ScriptedService

from pipeline.errors import IndexMissingError


def counts(client) -> dict[str, float]:
    lines = client.get("/metrics").body.decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))
    }


def test_the_text_and_its_type(start):
    service = ScriptedService(
        state={"generator": {"waiting": 2, "finished": 5}, "memory": {"resident_bytes": 7}}
    )
    answered = start(service).get("/metrics/")
    assert answered.status == 200
    assert answered.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert answered.header("Cache-Control") == "no-store"
    for line in (
        "otvet_ready 1",
        "otvet_queue_waiting 2",
        "otvet_memory_resident_bytes 7",
        "otvet_jobs_active 0",
    ):
        assert line in answered.body.decode().splitlines()


def test_requests_are_counted_by_route_method_and_status(start):
    client = start(ScriptedService())
    client.ask({"question": "отпуск"})
    client.ask({"question": ""})
    client.ask({"question": "отпуск"}, "/ask/stream")
    client.get(f"/source/{CHUNK_ID}")
    found = counts(client)
    for route, method, status in (
        ("/ask", "POST", 200),
        ("/ask", "POST", 400),
        ("/ask/stream", "POST", 200),
        ("/source/{chunk_id}", "GET", 200),
    ):
        assert found[f'otvet_requests_total{{route="{route}",method="{method}",status="{status}"}}'] == 1
    assert found['otvet_request_seconds_count{route="/ask"}'] == 2
    assert found['otvet_request_seconds_bucket{route="/ask",le="+Inf"}'] == 2
    assert found['otvet_request_seconds_sum{route="/ask"}'] > 0


def test_no_caller_can_make_the_text_grow(start):
    client = start(ScriptedService())
    client.get("/metrics")

    def names():
        return {name for name in counts(client) if "_bucket" not in name}

    client.get("/nowhere/0"), client.send("BREW0", "/"), client.get("/ask/0"), client.get("/source/0")
    names()
    before = names()
    for n in range(1, 30):
        (
            client.get(f"/nowhere/{n}"),
            client.send(f"BREW{n}", "/"),
            client.get(f"/ask/{n}"),
            client.get(f"/source/{n}"),
        )
    assert names() == before
    assert counts(client)['otvet_requests_total{route="none",method="other",status="405"}'] == 30
    labels = re.compile(r'\{(route="[^"]*"|,|method="[A-Zoa-z]*"|status="\d+")*\}')
    assert all(labels.search(name) for name in before if name.startswith("otvet_requests_total"))


def test_a_service_that_will_never_be_ready_is_measured_too(start):
    client = start(ScriptedService(never_ready=IndexMissingError(path="embeddings")))
    assert counts(client)["otvet_ready"] == 0
