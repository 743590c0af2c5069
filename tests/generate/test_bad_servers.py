"""What a server refuses, as the user of the command line sees it: one line where every request would meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.polyculture.test_command_line import EXPERIMENT, polyculture
from tests.servers import HTML, Reply, StubServer, failure


def write(folder: Path, server: StubServer) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(model="openai:mine", url=server.url), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(failure(401, "wrong"), "refuses the API key (HTTP 401: wrong)", id="wrong key"),
        pytest.param(HTML, "answers with a web page (HTML), not as an OpenAI-compatible API", id="web page"),
        pytest.param(failure(404, "not found"), "has no such model, or no such path (HTTP 404:", id="unknown model"),
        pytest.param(failure(402, "pay"), "the account's quota is used up (HTTP 402: pay)", id="payment"),
        pytest.param(failure(400, "too long"), "does not take the requests (HTTP 400: too long)", id="rejection"),
    ],
)
def test_what_every_request_meets_ends_the_run_in_its_last_line(tmp_path: Path, reply: Reply, said: str) -> None:
    with StubServer(behaviour=lambda *_: reply) as server:
        file = write(tmp_path, server)
        result = polyculture("run", file, cwd=tmp_path)
        asked = len(server.asked)
        server.behaviour = None
        again = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert result.returncode == 6, result.stderr
    line = result.stderr.splitlines()[-1]
    assert said in line
    assert line.startswith(f"polyculture: {server.url}: generate openai:mine: ")
    assert asked == 8, "as few as show that all of them would meet it"
    assert not (tmp_path / "runs" / "small" / "links.parquet").exists()
    assert again.returncode == 0, again.stderr
