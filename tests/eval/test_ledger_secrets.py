"""Secrets never reach the ledger, wherever they turn up; what only looks a little like one stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.eval.ledger import LEDGER_FILE, Ledger, verify
from rebind.eval.ledger.secrets import MASK, Scrubber

KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90"
PLANTED = {
    "an OpenAI key in an error": f"AuthenticationError: Incorrect API key provided: {KEY}. See https://…",
    "a key in a header": {"headers": {"Authorization": "Bearer abcdef0123456789abcdef", "x-api-key": "0123456789"}},
    "basic credentials": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="},
    "basic credentials in a dump": "GET / HTTP/1.1\nAuthorization: Basic dXNlcjpwYXNzd29yZA==\n",
    "a cloud key in an observation": "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "a GitHub token": "remote: https://x:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com",
    "a hub token": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "an environment value": "the server said: hunter2-and-more is wrong",
    "an environment value with a quote": 'password "quoted\\secret" refused',
}
TELLTALE = (
    "Ab12Cd34", "abcdef0123456789abcdef", "0123456789", "dXNlcjpwYXNz", "AKIAIOSF", "ghp_", "hf_abc", "eyJhbGci",
    "MIIEpAIB", "hunter2", "quoted",
)  # fmt: skip


@pytest.fixture
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hunter2-and-more")
    monkeypatch.setenv("DB_PASSWORD", '"quoted\\secret"')


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_secret_does_not_reach_the_file(tmp_path: Path, name: str) -> None:
    with Ledger.open(tmp_path) as ledger:
        event = ledger.append("step", {"observation": PLANTED[name], "index": 0})  # type: ignore[dict-item]  # JSON
    written = (tmp_path / LEDGER_FILE).read_text()
    data = written.split('"data":')[1].split('"hash":')[0]
    assert MASK in data
    assert MASK in str(event.data)
    assert not [t for t in TELLTALE if t in data]
    assert verify(tmp_path).ok


@pytest.mark.usefixtures("_environment")
def test_a_secret_as_an_object_key_is_masked_and_the_keys_are_sorted_anew(tmp_path: Path) -> None:
    import json

    import rfc8785

    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"hunter2-and-more": 1, "a": 2, "zz": 3})
    line = (tmp_path / LEDGER_FILE).read_bytes().rstrip(b"\n")
    assert rfc8785.dumps(json.loads(line)) == line
    assert json.loads(line)["data"] == {MASK: 1, "a": 2, "zz": 3}


@pytest.mark.parametrize(
    "text",
    [
        '{"observation":"the task-manager desk-0123456789abcdef0123 is free"}',
        '{"observation":"Bearer authentication-required"}',
        '{"observation":"Basic understanding of Basic information"}',
        '{"token":"tok_93f1","api":"key"}',
        '{"path":"/usr/local/bin"}',
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    environ = {"KEY": "short", "SSH_AUTH_SOCK": "/usr/local/bin", "KEYBOARD": "understanding", "PIN_TOKEN": "12345678"}
    assert Scrubber(environ).scrub(text) is text
