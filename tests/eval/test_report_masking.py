"""Credentials in what a page quotes are masked, and nothing else is."""

from __future__ import annotations

import pytest
from support.ledgers import call

from rebind.eval.lines import step_row
from rebind.eval.stories import OBSERVATION_CHARACTERS, masked, shown_observation, step_view


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('bank_list(access_token="tok-1")', 'bank_list(access_token="•••")'),
        ('{"access_token": "tok-1", "page": 2}', '{"access_token": "•••", "page": 2}'),
        ("login(password='p w', user='ann')", "login(password='•••', user='ann')"),
        ('{"Authorization": "Bearer abc"}', '{"Authorization": "•••"}'),
        ('{"client_secret":"s"}', '{"client_secret":"•••"}'),
        ('x(api_key="cut off before its end', 'x(api_key="•••"'),
        (
            '{"tokens": 12, "key": "C major", "keyword": "token"}',
            '{"tokens": 12, "key": "C major", "keyword": "token"}',
        ),
    ],
)
def test_values_of_credential_like_keys_are_masked(text: str, shown: str) -> None:
    assert masked(text) == shown


def test_a_credential_across_the_cut_is_masked_whole() -> None:
    text = "x" * (OBSERVATION_CHARACTERS - 25) + '"access_token": "' + "t" * 200 + '"'
    view = step_view(step_row({"index": 0, **call("supervisor_login", text).model_dump(mode="json")}))
    assert "tt" not in shown_observation(view)
    assert len(shown_observation(view)) <= OBSERVATION_CHARACTERS
