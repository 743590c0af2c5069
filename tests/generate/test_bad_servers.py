"""What a server refuses, as the user of the command line sees it: one line where every request would meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.polyculture.test_command_line import EXPERIMENT, one_line, polyculture
from tests.servers import HTML, Reply, StubServer, failure


def write(folder: Path, server: StubServer) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(model="openai:mine", url=server.url), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(failure(401, "wrong"), "refuses the API key (HTTP 401)", id="wrong key"),
        pytest.param(HTML, "answers with a web page (HTML), not as an OpenAI-compatible API", id="web page"),
        pytest.param(failure(404, "not found"), "has no model 'mine' (HTTP 404: not found)", id="unknown model"),
    ],
)
def test_what_every_request_meets_ends_the_run_in_one_line(tmp_path: Path, reply: Reply, said: str) -> None:
    with StubServer(behaviour=lambda *_: reply) as server:
        line = one_line(polyculture("run", write(tmp_path, server), cwd=tmp_path))
        asked = len(server.asked)
    assert said in line
    assert server.url in line
    assert asked <= 16  # those that were in flight when the first answer came


def test_a_deterministic_fault_is_recorded_once_and_not_asked_again(tmp_path: Path) -> None:
    with StubServer(behaviour=lambda *_: failure(400, "too long")) as server:
        file = write(tmp_path, server)
        first, again = (polyculture("generate", file, cwd=tmp_path) for _ in range(2))
        assert len(server.asked) == len(set(server.asked)) == 10
    assert (first.returncode, again.returncode) == (4, 4)
    why = polyculture("sql", file, "SELECT DISTINCT error, retryable FROM responses", cwd=tmp_path)
    assert "HTTP 400: too long" in why.stdout
