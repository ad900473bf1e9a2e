"""Who may use the explorer: other web sites may not, and other machines need the token."""

import time

import pytest

from learnscope.views.explorer.server import create

TOKEN = "a-token-of-twenty-four-bytes"
OTHERS = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
]


@pytest.fixture
def visitor(tmp_path):
    return create(tmp_path, tmp_path).server.test_client()


@pytest.fixture
def stranger(tmp_path):
    return create(tmp_path, tmp_path, ("lab.example",), TOKEN).server.test_client()


@pytest.mark.parametrize("headers", OTHERS, ids=str)
def test_requests_of_other_sites_are_refused(visitor, headers):
    answer = visitor.get("/live/controls?preset=kou", headers=headers)
    assert answer.status_code == 403 and b"other web sites" in answer.data


def test_links_of_other_sites_lead_to_pages_only(visitor):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert visitor.get("/?preset=kou", headers=followed).status_code == 200
    assert visitor.get("/export/live.nc?preset=kou", headers=followed).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
    assert visitor.get("/live/controls?preset=kou", headers=own).status_code == 200


def test_beyond_this_machine_a_token_is_needed(stranger):
    for path in ("/", "/live/controls?preset=kou", "/?token=", "/?token=wrong"):
        answer = stranger.get(path, base_url="http://lab.example")
        assert answer.status_code == 403 and b"token" in answer.data, path
    answer = stranger.get(f"/sweeps?token={TOKEN}", base_url="http://lab.example")
    assert answer.status_code == 302 and answer.location == "/sweeps"
    assert "HttpOnly" in answer.headers["Set-Cookie"] and "Strict" in answer.headers["Set-Cookie"]
    assert stranger.get("/", base_url="http://lab.example").status_code == 200
    # A number cannot be another site's name; any other name can.
    assert stranger.get(f"/?token={TOKEN}", base_url="http://10.0.0.7:8050").status_code == 302
    assert stranger.get(f"/?token={TOKEN}", base_url="http://evil.example").status_code == 403
    away = stranger.get(f"//evil.example/x?token={TOKEN}", base_url="http://10.0.0.9")
    assert away.status_code == 302 and away.location == "/"


def test_no_question_exhausts_the_machine(visitor):
    for query in ("preset=input_structure&data.relevant=1000000000",
                  "preset=input_structure&data.patterns=1000000000",
                  "preset=input_structure&data.relevant=1000000&data.patterns=10000000",
                  "preset=benign&data.classes=1000000000", "preset=kou&data.train=1000000000",
                  "preset=pegr&steps=2147483646&seeds=100"):  # fmt: skip
        visitor.get(f"/live/controls?{query.split('&')[0]}")  # what a preset offers is tried once
        start = time.process_time()
        status = visitor.get(f"/live/controls?{query}").status_code
        assert status == (200 if "steps" in query else 400), query
        assert time.process_time() - start < 2, query
