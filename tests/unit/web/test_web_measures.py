"""The text for Prometheus, checked against its format by hand."""

import re
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from pipeline.web.measures import (
    BUCKETS_S,
    Family,
    RequestMeter,
    Sample,
    job_families,
    service_families,
    write,
)


def test_a_counter_in_the_text_format():
    sample = Sample("a_total", 3.0, {"route": 'a"b\\c\nd'})
    assert write([Family("a_total", "counter", "What.", (sample,))]).decode() == (
        '# HELP a_total What.\n# TYPE a_total counter\na_total{route="a\\"b\\\\c\\nd"} 3\n'
    )


def test_a_family_without_samples_is_left_out():
    assert write([Family("a", "gauge", "What.", ())]) == b""


def test_the_histogram_of_three_requests():
    meter = RequestMeter()
    for seconds in (0.004, 0.02, 500.0):
        meter.note("/ask", "POST", 200, seconds)
    lines = write(meter.families()).decode().splitlines()
    assert 'otvet_requests_total{route="/ask",method="POST",status="200"} 3' in lines
    buckets = [line for line in lines if "_bucket" in line]
    assert len(buckets) == len(BUCKETS_S) + 1
    assert [line.rpartition(" ")[2] for line in buckets] == ["1", "1"] + ["2"] * (len(BUCKETS_S) - 2) + ["3"]
    assert buckets[0] == 'otvet_request_seconds_bucket{route="/ask",le="0.005"} 1'
    assert buckets[-1] == 'otvet_request_seconds_bucket{route="/ask",le="+Inf"} 3'
    assert 'otvet_request_seconds_count{route="/ask"} 3' in lines
    assert 'otvet_request_seconds_sum{route="/ask"} 500.024' in lines


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=50))
def test_buckets_grow_up_to_the_count(times):
    meter = RequestMeter()
    for seconds in times:
        meter.note("/ask", "POST", 200, seconds)
    values = [
        (dict(s.labels)["le"], s.value)
        for family in meter.families()
        for s in family.samples
        if s.name.endswith("_bucket")
    ]
    counts = [value for _, value in values]
    assert counts == sorted(counts)
    assert counts[-1] == len(times)
    for bound, value in values[:-1]:
        assert value == sum(seconds <= float(bound) for seconds in times)


def test_counting_from_many_threads_loses_nothing():
    meter = RequestMeter()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(800):
            pool.submit(meter.note, "/health", "GET", 200, 0.001)
    assert b'otvet_requests_total{route="/health",method="GET",status="200"} 800\n' in write(meter.families())


def test_what_a_service_does_not_say_is_left_out():
    text = write(service_families({"generator": None, "index": "gone"}, ready=False)).decode()
    assert (
        text
        == "# HELP otvet_ready 1 once a search can be answered.\n# TYPE otvet_ready gauge\notvet_ready 0\n"
    )


def test_what_a_service_says_of_itself():
    status = {
        "generator": {"waiting": 3, "running": True, "mean_s": 1.25, "error": None, "read_tokens": 10},
        "memory": {"resident_bytes": 1 << 33},
    }
    lines = write(service_families(status, ready=True)).decode().splitlines()
    for line in (
        "otvet_queue_waiting 3",
        "otvet_generator_running 1",
        "otvet_generator_text_seconds 1.25",
        'otvet_generator_tokens_total{kind="read"} 10',
        "otvet_memory_resident_bytes 8589934592",
    ):
        assert line in lines
    assert not any('"reused"' in line for line in lines)


def test_every_line_is_of_the_format():
    meter = RequestMeter()
    meter.note("/source/{chunk_id}", "GET", 404, 0.001)
    held = {"active": 1, "kept": 2, "kept_bytes": 3}
    text = write((*meter.families(), *job_families(held), *service_families({}, ready=True))).decode()
    line = re.compile(r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9.e+-]+)')
    assert all(line.fullmatch(found) for found in text.splitlines())
    assert text.endswith("\n")
