"""Keys and passwords: in no file of a run, in no line that is printed."""

from __future__ import annotations

import base64
import json
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from polyculture.cache.errors import EngineError
from polyculture.cache.network.http_answers import retry_after
from polyculture.cache.text.sanitize import conceal, find_key, hide_keys, learn, user_of
from polyculture.generate.engines import ModelSpec, check_model
from polyculture.generate.engines.openai.chat import ChatApi
from polyculture.generate.engines.setup import model_setup
from tests.polyculture.test_command_line import EXPERIMENT, polyculture
from tests.servers import Reply, StubServer, completion

KEY = "sk-proj-Zx81kQ0aB7cD3eF9gH2iJ"
PASSWORD = "correct-horse-battery"


def experiment(folder: Path, url: str, model: str = "openai:mine", options: str = "") -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(model=model, url=url) + options, encoding="utf-8")
    return file


def holds(folder: Path, secret: str) -> list[str]:
    """The files that have the secret: Parquet's are compressed, so that what they hold is read, too."""
    import pyarrow.parquet as pq

    found = [path for path in folder.rglob("*") if path.is_file() and path.name != "exp.toml"]
    own = [path for path in found if secret.encode() in path.read_bytes()]
    tables = [path for path in found if path.suffix == ".parquet"]
    return [str(p) for p in [*own, *(t for t in tables if secret in str(pq.ParquetFile(t).read().to_pylist()))]]


def refusal(**options: Any) -> str:
    """What is said of options that no engine takes."""
    with pytest.raises(EngineError) as fault:
        check_model(ModelSpec("openai:m", {"base_url": "http://x.org/v1", **options}))
    assert "\n" not in str(fault.value)
    return str(fault.value)


@pytest.mark.parametrize("name", [KEY, "my key", "sk_live_abcdefghij0123456789", "$KEY", ""])
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(name: str) -> None:
    said = refusal(api_key_env=name)
    assert "api_key_env" in said
    assert not name or name not in said


@pytest.mark.parametrize("escaped", [False, True])
def test_a_key_that_a_server_echoes_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, escaped: bool
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)

    def echo(body: Mapping[str, Any], _: int) -> Reply:
        answer = json.loads(completion(body, f"your key is {KEY}", 1))
        answer |= {"model": KEY, "system_fingerprint": f"fp {KEY}"}
        answer["choices"][0]["finish_reason"] = KEY
        answer["choices"][0]["message"]["reasoning_content"] = KEY
        text = json.dumps(answer)
        return Reply(body=(text.replace(KEY, KEY.replace("s", "\\u0073", 1)) if escaped else text).encode())

    with StubServer(behaviour=echo) as server:
        file = experiment(tmp_path, server.url, options='api_key_env = "MY_KEY"\n')
        done = polyculture("run", file, cwd=tmp_path, report=True)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert list((tmp_path / "runs").rglob("*.parquet"))
    assert holds(tmp_path, KEY) == []
    assert KEY not in done.stdout + done.stderr


def test_a_password_in_the_address_is_used_and_written_nowhere(tmp_path: Path) -> None:
    with StubServer() as server:
        url = server.url.replace("//", f"//someone:{PASSWORD}@")
        done = polyculture("run", experiment(tmp_path, url), cwd=tmp_path, report=True)
        assert server.headers[0]["authorization"].startswith("Basic ")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert holds(tmp_path, PASSWORD) == []
    assert server.url in (tmp_path / "runs" / "small" / "experiment.toml").read_text()
    assert PASSWORD not in done.stdout + done.stderr


def test_a_password_is_in_no_line_where_nobody_answers(tmp_path: Path) -> None:
    done = polyculture("run", experiment(tmp_path, f"http://someone:{PASSWORD}@127.0.0.1:9/v1"), cwd=tmp_path)
    assert (done.returncode, len(done.stderr.strip().splitlines()[-1:])) == (6, 1)
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert "http://127.0.0.1:9/v1" in done.stderr


def test_a_password_is_in_no_setup_and_not_beside_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"https://someone:{PASSWORD}@example.org/v1"
    assert model_setup(ModelSpec("openai:m", {"base_url": url}), "answer") == {"base_url": "https://example.org/v1"}
    monkeypatch.setenv("MY_KEY", KEY)
    with pytest.raises(EngineError, match="room for one"):
        ChatApi(ModelSpec("openai:m", {"base_url": url, "api_key_env": "MY_KEY"}))


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://x:port/v1", "http://x:99999/", "http://:80", "http://@/v1", "http://a b/"]
)
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    assert "base_url: is no address" in refusal(base_url=url)


@pytest.mark.parametrize(
    "body",
    [
        f'{{x = "{KEY}"}}', '{api_key = "abc"}', '{headers = {Authorization = "Bearer abcdefgh"}}', '{token = "t"}',
        f'{{list = ["a", "{KEY}"]}}', '{list = [{password = "p"}]}', '{x = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv"}',
        f'"{KEY}"',
        '{user = {x-api-key = "abc"}}', '{client_secret = "abc"}',
        '{hf_token = "abc"}', '{HF_TOKEN = "abc"}', '{wandb_api_key = "abc"}', '{github_token = "abc"}',
    ],
)  # fmt: skip
def test_a_key_in_extra_body_is_refused_with_the_remedy_and_not_repeated(body: str) -> None:
    said = refusal(extra_body=tomllib.loads(f"x = {body}")["x"])
    assert "extra_body" in said
    assert "api_key_env" in said or body.startswith('"')
    assert KEY not in said


@pytest.mark.parametrize(
    "body",
    [
        {"min_p": 0.1, "guided_regex": "[A-Z]{3,40}", "chat_template_kwargs": {"enable_thinking": False}},
        {"pad_token": "<pad>", "image_token": "<img>", "max_tokens": "5", "tokens": "x", "cache_key": "a"},
        {"eos_token": "</s>", "lora": "meta-llama/Llama-3.1-70B-Instruct"},
        {"user": "5f2b1c7e-0f4e-4d3f-9a40-0a8b5f1f9e11"},
        {"stop": ["sk-SK", "</s>"], "seed_key": 3, "token": ""},
    ],
)  # fmt: skip
def test_what_is_no_key_is_sent_along(body: dict[str, Any]) -> None:
    assert find_key(body) is None


@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_is_hidden_in_base64_too(before: str, encode: Callable[[bytes], bytes]) -> None:
    learn(KEY)
    for after in ("", "x", "yz"):
        shown = hide_keys(encode(f"{before}{KEY}{after}".encode()).decode())
        assert "***" in shown
        assert len(shown) < 20


@pytest.mark.parametrize(
    "form",
    [
        KEY.replace("-", "%2D"), KEY.replace("-", "%2d", 1), quote(KEY).replace("s", "%73"),
        "".join(f"%{one:02X}" for one in KEY.encode()), "".join(f"%{one:02x}" for one in KEY.encode()),
        quote(f"{KEY}/ä:?", safe=""),
    ],
)  # fmt: skip
def test_a_key_is_hidden_where_any_of_its_letters_is_url_quoted(form: str) -> None:
    learn(KEY)
    learn(f"{KEY}/ä:?")
    assert hide_keys(f"got {form}!") == "got ***!"


@pytest.mark.parametrize("encode", [str, quote, quote_plus, lambda text: quote(text, safe="")])
def test_a_password_of_any_letters_is_hidden_in_an_address(encode: Callable[[str], str]) -> None:
    password = """pä&"ss'/w<o>rd :+=%20*€"""
    learn(password)
    assert hide_keys(f"got {encode(password)}!") == "got ***!"
    assert hide_keys(encode("w<o>rd & more = 3 %")) == encode("w<o>rd & more = 3 %")


def test_a_text_with_many_quoted_letters_is_read_at_once() -> None:
    learn(KEY)
    began = time.process_time()
    for text in ("%25" * 50_000, "+" * 100_000, KEY[:9] * 9_000 + "%73"):
        hide_keys(text)
    assert time.process_time() - began < 2


def test_a_user_and_password_are_hidden_together() -> None:
    whole = user_of("https://annas-account:pässword-1234@example.org/")
    assert whole == "annas-account:pässword-1234"
    for form in (whole, quote(whole, safe=""), quote(whole, safe="").replace("%C3%A4", "%c3%a4")):
        assert hide_keys(f"{form} {form}") == "*** ***"


def test_only_known_keys_are_hidden_in_answers() -> None:
    learn(KEY)
    learn("short")
    text = "short sk-ceskoslovensko-1968-praha ftp://me@example.org/"
    assert hide_keys(f"{text} {KEY}") == f"{text} ***"
    assert conceal(f"at https://a:b@c@example.org/x?y=z@w and {KEY}") == "at https://example.org/x?y=z@w and ***"


@pytest.mark.parametrize(
    "header",
    [
        "Fri, 10 Apr 99999 22:30:42 GMT", "Fri, 10 Apr 99999999999999999999 22:30:42 GMT",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Mon, 01 Jan 0001 00:00:00 +2359", "9" * 400, "9" * 5000, "Fri, 10 Apr 2026 99:99:99 GMT",
        "Fri, 31 Feb 2026 1:1:1",
        "Fri, 10 Apr 2026 22:30:42 +999999999999", "-1", "1e999", "\ud800", "٣",
    ],
)  # fmt: skip
def test_a_retry_after_beyond_the_calendar_is_a_wait_or_none(header: str) -> None:
    for date in ({}, {"Date": header}, {"Date": "Fri, 10 Apr 2026 22:30:12 GMT"}):
        seconds = retry_after({"Retry-After": header, **date})
        assert seconds is None or 0 <= seconds <= 366 * 24 * 3600


def test_a_model_whose_name_is_too_long_for_a_folder_is_run_and_found(tmp_path: Path) -> None:
    model = "openai:" + "設定" * 30
    with StubServer() as server:
        file = experiment(tmp_path, server.url, model)
        done = polyculture("run", "--only", "generate", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = polyculture("sql", file, "SELECT DISTINCT model FROM responses", "--format", "csv", cwd=tmp_path)
    assert model in rows.stdout
    again = polyculture("status", file, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("query", ["api_key=abcdef", "token=AKIA998877665544aa", "v=1&x=sk-abcdefghij1234567890"])
def test_a_key_in_the_query_of_base_url_is_refused_and_not_repeated(query: str) -> None:
    said = refusal(base_url=f"http://x.org/v1?{query}")
    assert "key in its query" in said
    assert query.rpartition("=")[2] not in said


def test_a_key_in_an_experiment_leaves_no_run(tmp_path: Path) -> None:
    done = polyculture(
        "plan", experiment(tmp_path, "http://x.org/v1", options=f'api_key_env = "{KEY}"\n'), cwd=tmp_path
    )
    assert done.returncode == 2
    assert KEY not in done.stdout + done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "line", ['[link]\nhf_token = "abcdefg"', f'[report]\nnotes = ["{KEY}"]', '[models."mock:a"]\nwandb_api_key = "x"']
)
def test_a_key_anywhere_in_an_experiment_is_refused_before_anything_is_written(line: str, tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    file.write_text(f'name = "run"\n{line}\n', encoding="utf-8")
    done = polyculture("run", file, cwd=tmp_path)
    assert done.returncode == 2
    assert "looks like a key" in done.stderr
    assert "environment variable" in done.stderr
    assert KEY not in done.stderr
    assert not (tmp_path / "runs").exists()
