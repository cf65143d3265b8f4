"""Keys stay out of error texts."""

from __future__ import annotations

import pytest

from rebind.secrets import redact


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcDEF123456",
        "sk-ab******wxyz",
        "gsk_0123456789abc",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "hf_****wxyz",
        "AIzaSyA0123456789abcdefghij",
    ],
)
def test_what_looks_like_a_key_is_removed(secret: str) -> None:
    assert redact(f"refused: {secret}, try again") == "refused: [secret], try again"


def test_a_bearer_token_is_removed() -> None:
    assert redact("sent Authorization: Bearer abc.def-ghi") == "sent Authorization: Bearer [secret]"


def test_given_and_environment_secrets_are_removed_the_longer_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hush-hush")
    assert redact("hush-hush-hush and plainkey1", "hush-hush-hush", "plainkey1") == "[secret] and [secret]"


def test_ordinary_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT_KEY", "on")
    text = "Connection error on http://127.0.0.1:8080/v1: task-management is a key_feature"
    assert redact(text, None) == text
