"""Secrets never reach the ledger, wherever they turn up; what only looks a little like one stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from rebind.eval.ledger import LEDGER_FILE, Ledger, verify
from rebind.secrets import MASK, Scrubber

KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90"
PLANTED: dict[str, Any] = {
    "an OpenAI key in an error": f"AuthenticationError: Incorrect API key provided: {KEY}. See https://…",
    "a key without a shape in an error": "Incorrect API key provided: Ab12Cd34Zz. You can find yours at …",
    "keys in headers": {"headers": {"Authorization": "Bearer abcdef0123456789abcdef", "x-api-key": "0123456789"}},
    "a header in other case": {"AUTHORIZATION": "bearer abcdef0123456789abcdef", "X-API-KEY": "0123456789"},
    "headers as pairs": [["x-goog-api-key", "0123456789"], ["api-key", "0123456789"]],
    "headers of httpx": "Headers([('host', 'x'), ('api-key', '0123456789'), ('authorization', 'Basic dXNlcjpwYXNz')])",
    "headers as bytes": "[(b'X-Api-Key', b'0123456789'), (b'Ocp-Apim-Subscription-Key', b'0123456789')]",
    "JSON within JSON": json.dumps({"request": json.dumps({"x-api-key": "0123456789"})}),
    "an argument of a call": "litellm.completion(model='m', api_key='0123456789', api_base='http://x')",
    "a shell's variable": "export MISTRAL_API_KEY=0123456789abcdef",
    "an API token": "api_token: 0123456789",
    "basic credentials": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="},
    "basic credentials in a dump": "GET / HTTP/1.1\nAuthorization: Basic dXNlcjpwYXNzd29yZA==\n",
    "proxy credentials": "Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==",
    "a cloud key in an observation": "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "a cloud secret": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "a signed address": "https://b.s3.amazonaws.com/o?X-Amz-Signature=0123456789abcdef0123&X-Amz-Expires=60",
    "a storage account": "DefaultEndpointsProtocol=https;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsu==",
    "an address with a password": "GET https://robot:hidden-pass@git.example.com/x failed",
    "a database's address": "postgresql://app:hidden-pass@10.0.0.5:5432/app",
    "a key in a query": "GET /v1beta/models?key=AIzaSyA0123456789abcdefghijKLMNOPQ HTTP/1.1",
    "a plain key in a query": "GET /v1/models?key=abcdef0123456789abcdef&alt=json HTTP/1.1",
    "a GitHub token": "remote: https://x:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com",
    "a hub token": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "a payment key": "sk_live_0123456789abcdefghijklmn",
    "an OAuth token": "ya29.a0AfH6SMBx0123456789abcdef",
    "a JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "a key half masked by its provider": "Incorrect key: sk-Ab12********Gh78",
    "an environment value": "the server said: hunter2-and-more is wrong",
    "an environment value with a quote": 'password "quoted\\secret" refused',
    "an environment value in JSON in JSON": json.dumps({"body": json.dumps('"quoted\\secret"')}),
    "an environment value in an address": "GET /?q=a%20space%2Fand%2Bmore",
    "the password of an environment's address": "FATAL: password authentication failed: swordfish99",
    "a value deep in a structure": {"a": [{"b": [{"c": f"x {KEY} y"}]}]},
}  # fmt: skip
TELLTALE = (
    "Ab12Cd34", "abcdef0123456789", "0123456789", "dXNlcjpwYXNz", "AKIAIOSF", "wJalrX", "Eby8vdM0", "hidden-pass",
    "AIzaSy", "ghp_", "hf_abc", "sk_live", "a0AfH6", "eyJhbGci", "MIIEpAIB", "sk-Ab12", "hunter2", "quoted",
    "space%2F", "swordfish",
)  # fmt: skip


@pytest.fixture
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hunter2-and-more")
    monkeypatch.setenv("DB_PASSWORD", '"quoted\\secret"')
    monkeypatch.setenv("SMTP_PASS", "a space/and+more")
    monkeypatch.setenv("DATABASE_URL", "postgresql://app:swordfish99@db/app")


@pytest.mark.usefixtures("_environment")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_secret_does_not_reach_the_file(tmp_path: Path, name: str) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("step", {"observation": PLANTED[name], "index": 0})
    written = (tmp_path / LEDGER_FILE).read_text()
    data = written.split('"data":')[1].split('"hash":')[0]
    assert MASK in data
    assert not [t for t in TELLTALE if t in data]
    assert verify(tmp_path).ok


@pytest.mark.usefixtures("_environment")
def test_a_secret_as_an_object_key_is_masked_and_the_keys_are_sorted_anew(tmp_path: Path) -> None:
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
        '{"observation":"the API key, if there is one, is a key feature: see https://example.org/a:b@c"}',
        '{"observation":"Authorization: none; api_key: missing"}',
        '{"access_token":"rvedm2","password":"qZ7!x_0123456789","card":"4111111111111111"}',
        '{"args":{"access_token":"eyesonly2024"},"api_calls":12345678}',
        '{"token":"tok_93f1","api":"key"}',
        '{"path":"/usr/local/bin"}',
    ],
)
def test_ordinary_text_and_the_secrets_of_a_simulated_world_are_left_as_they_are(text: str) -> None:
    environ = {"KEY": "short", "SSH_AUTH_SOCK": "/usr/local/bin", "KEYBOARD": "understanding", "PIN_TOKEN": "12345678"}
    raw = text.encode()
    assert Scrubber(environ).scrub(raw) is raw
