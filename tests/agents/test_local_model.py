"""A real model answers through the same door as a hosted one, from a child process that ends with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rebind.agents.catalogue import KNOWN
from rebind.agents.llm import LLM
from rebind.agents.local import LocalServer, LocalSettings, serve
from rebind.agents.schema import action_schema
from rebind.agents.weights import find_or_fetch
from rebind.canon import file_digest
from rebind.errors import ContextOverflow, InfraError, ModelError
from rebind.types import Decoding, Message, Request, ToolSpec

NAME = "smollm2-135m"
MODEL = f"local/{NAME}"
SETTINGS = LocalSettings(slots=2, context=1024)
TOOLS = (
    ToolSpec(
        name="mail_send",
        description="Sends a mail.",
        parameters={
            "type": "object",
            "properties": {"to": {"type": "string", "maxLength": 12}, "urgent": {"type": "boolean"}},
            "required": ["to", "urgent"],
            "additionalProperties": False,
        },
    ),
    ToolSpec(name="profile", description="Tells who I am.", parameters={"type": "object", "properties": {}}),
)


@pytest.fixture(scope="module")
def llm() -> LLM:
    """The door, with the model served; skips where its weights or its runtime cannot be had."""
    pytest.importorskip("xllamacpp")
    try:
        find_or_fetch(NAME)
    except ModelError as error:
        pytest.skip(f"the weights of {NAME} cannot be had here: {error}")
    door = LLM(local_settings=SETTINGS)
    door.endpoint(MODEL)
    return door


def request(text: str, **fields: Any) -> Request:
    messages = (Message(role="system", content="You call tools."), Message(role="user", content=text))
    decoding = fields.pop("decoding", Decoding(temperature=0.0, max_tokens=40, seed=1))
    return Request(model=MODEL, purpose="actor", messages=messages, decoding=decoding, **fields)


def test_a_real_model_answers_and_its_prompt_was_counted_exactly(llm: LLM) -> None:
    asked = request("Say hello.", decoding=Decoding(temperature=0.0, max_tokens=8))
    answer = llm.complete(asked)
    assert answer.text.strip()
    assert answer.usage.prompt == llm.count(asked)
    assert 1 <= (answer.usage.completion or 0) <= 8
    assert answer.attempts[0].error is None


def test_counts_add_up_over_messages(llm: LLM) -> None:
    """What makes the tokens of a support the same in every call of an episode."""

    def count(*contents: str) -> int:
        roles: tuple[Any, Any] = ("user", "assistant")
        turns = tuple(Message(role=roles[n % 2], content=text) for n, text in enumerate(contents))
        return llm.count(request("").model_copy(update={"messages": turns}))

    support, task, history = ("Past: pay 5 to Ann.", "Taken."), ("Task: x",), ('{"tool":"t"}', '{"seen": 1}')
    assert count(*support, *task, *history) - count(*task, *history) == count(*support, *task) - count(*task)


def test_a_schema_binds_the_answer_to_one_tool_and_its_own_arguments_without_white_space(llm: LLM) -> None:
    answer = llm.complete(request("Send Ann a mail.", schema_=action_schema(TOOLS, thought=False)))
    said = json.loads(answer.text)
    assert set(said) == {"tool", "args"}
    assert said["tool"] in ("mail_send", "profile")
    assert set(said["args"]) <= {"to", "urgent"}
    assert answer.text.startswith('{"tool":"')


def test_grounded_arguments_take_only_values_seen(llm: LLM) -> None:
    schema = action_schema(TOOLS[:1], thought=False, grounded=['ann"quoted"@x.org'])
    said = json.loads(llm.complete(request("Mail Bob.", schema_=schema)).text)
    assert said["args"]["to"] == 'ann"quoted"@x.org'


def test_a_schema_that_the_server_cannot_use_is_dropped_there_and_the_answer_is_still_parsed_here(llm: LLM) -> None:
    from rebind.agents.parse import parse

    broken: dict[str, Any] = {"type": "object", "properties": {"tool": {"$ref": "#/$defs/missing"}}}
    answer = llm.complete(request("Say hello.", schema_=broken, decoding=Decoding(temperature=0.0, max_tokens=8)))
    parsed = parse(answer, "json")
    assert (parsed.action is None) == bool(parsed.problem)


def test_the_same_request_gets_the_same_answer_and_the_prefix_is_cached(llm: LLM) -> None:
    asked = request("Name three colours. " * 10, decoding=Decoding(temperature=0.0, max_tokens=8))
    first, second = llm.complete(asked), llm.complete(asked)
    assert first.text == second.text
    assert (second.usage.cached or 0) >= (second.usage.prompt or 0) - 2


def test_a_prompt_beyond_the_context_is_an_overflow(llm: LLM) -> None:
    with pytest.raises(ContextOverflow):
        llm.complete(request("word " * 2000))


def test_the_server_is_shared_within_a_process_and_asks_for_its_key(llm: LLM) -> None:
    import httpx

    endpoint = llm.endpoint(MODEL)
    assert serve(NAME, SETTINGS).endpoint == endpoint
    assert endpoint.api_key is not None
    assert endpoint.api_key not in repr(endpoint)
    answer = httpx.post(f"{endpoint.api_base}/chat/completions", json={"messages": []}, timeout=10)
    assert answer.status_code == 401


def test_its_identity_is_its_weights_and_how_they_are_served(llm: LLM) -> None:
    identity = llm.identity(MODEL)
    assert identity["weights"] == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert (identity["slots"], identity["context"]) == (2, 1024)


def test_a_server_that_died_is_replaced(llm: LLM) -> None:
    died = serve(NAME, SETTINGS)
    assert died.pid is not None
    os.kill(died.pid, signal.SIGKILL)
    while died.runs:
        time.sleep(0.01)
    assert llm.count(request("Say hello.")) > 0
    assert serve(NAME, SETTINGS).pid != died.pid


_PARENT = """
import sys, time
from rebind.agents.local import LocalServer, LocalSettings
server = LocalServer(sys.argv[1], LocalSettings(slots=1, context=512)).start()
print(server.pid, flush=True)
time.sleep(600)
"""


def test_the_child_ends_when_its_parent_is_killed(llm: LLM) -> None:
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, NAME], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Whether a process is there and not a zombie waiting for its new parent."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_a_server_that_does_not_start_says_why_with_the_end_of_its_log(
    llm: LLM, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Weights that are what they should be, and no model."""
    file = tmp_path / "no-model.gguf"
    file.write_bytes(b"not a GGUF file")
    entry = replace(KNOWN[NAME], name="no-model", size=15, sha256=file_digest(file))
    monkeypatch.setitem(KNOWN, "no-model", entry)
    server = LocalServer("no-model", LocalSettings(path=file))
    with pytest.raises(InfraError, match=r"(?s)local/no-model did not start .*log.*no-model\.gguf"):
        server.start()


def test_a_server_that_was_closed_is_not_an_endpoint(llm: LLM) -> None:
    with LocalServer(NAME, LocalSettings(slots=1, context=512)) as server:
        assert server.endpoint.concurrency == 1
    with pytest.raises(InfraError, match="not running"):
        _ = server.endpoint
