"""ToolBench's recorded runs, queries and responses."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.originals import data

from rebind.envs.toolbench.formats import answer_file, converted
from rebind.envs.toolbench.load import load
from rebind.envs.toolbench.names import argument, function, standard
from rebind.envs.toolbench.responses import Live, Responses
from rebind.envs.toolbench.server import RecordedServer
from rebind.errors import EnvironmentFailure, UserError

_TOOLS = [
    {
        "name": "find_for_shop",
        "description": "Finds.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "optional": []},
    }
]


def _node(kind: str, description: str, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"node_type": kind, "description": description, "pruned": False, "children": list(children), **more}


def _call(tool: str, args: str, *children: dict[str, Any], answer: str = "{}", code: int = 0) -> dict[str, Any]:
    return _node("Action", tool, _node("Action Input", args, *children, observation=answer, observation_code=code))


def _file(root: dict[str, Any], answer: str = "") -> dict[str, Any]:
    told = {"query": " What? ", "function": _TOOLS, "train_messages": [[{}]], "final_answer": answer}
    return {"tree": {"tree": root}, "answer_generation": told}


_GIVEN = json.dumps({"return_type": "give_answer", "final_answer": "This."})


def test_tree_keeps_every_call_and_the_path() -> None:
    """All calls of a depth-first search are kept in its order, and those on the way to the answer are marked."""
    given_up = _call("find_for_shop", '{"q": "a"}', _call("Finish", '{"return_type": "give_up_and_restart"}'))
    answered = _call("find_for_shop", '{"q": "b"}', _call("Finish", _GIVEN))
    trace = answer_file(_file(_node("Action Input", "", given_up, answered), _GIVEN), "x")
    assert [(c.args, c.on_path) for c in trace.calls] == [({"q": "a"}, False), ({"q": "b"}, True)]
    assert (trace.finish, trace.answer, trace.query) == ("give_answer", "This.", "What?")
    assert trace.tree is not None
    assert (trace.tree.nodes, trace.tree.depth, trace.tree.leaves) == (9, 4, 2)
    assert trace.defects == ()


def test_defects_are_named() -> None:
    """Cut answers, arguments that are no JSON, and functions not offered are each said, with their place."""
    root = _node(
        "Action Input",
        "",
        _call(
            "find_for_shop",
            '{"q": ',
            _call("find_for_shop", "{}", _call("other_for_shop", "{}"), answer="x" * 1024 + "..."),
        ),
    )
    found = answer_file(_file(root), "x")
    assert [(d.flaw, d.where) for d in found.defects] == [
        ("malformed", "call 0 (find_for_shop)"),
        ("truncated", "call 1 (find_for_shop)"),
        ("malformed", "call 2 (other_for_shop)"),
    ]
    assert found.calls[0].args is None
    assert found.finish == "none"


def test_cut_messages_keep_what_is_left() -> None:
    """Of a converted message cut at 100 characters the arguments are kept where they are whole, and the beginning of
    the answer; an error is told where it shows, and where nobody can tell, nothing is claimed."""
    made = [
        {
            "name": "find_for_shop",
            "arguments": '{\n  "q": "a"\n}',
            "response": '{"error": "", "response": "' + "y" * 99,
        },
        {
            "name": "find_for_shop",
            "arguments": '{"q": "b"}',
            "response": '{"error": "It is out of order", "response": ""}',
        },
        {
            "name": "find_for_shop",
            "arguments": '{"q": "a long one, so long, and longer"}',
            "response": '{"error": "", "response": ""}',
        },
        {"name": "find_for_shop", "arguments": '{"q": "' + "b" * 99, "response": ""},
    ]
    node: list[Any] = []
    for message in reversed([*(str(one)[:100] for one in made), "nonsense"]):
        node = [{"role": "tool", "message": message, "next": node}]
    raw = {"query": "q", "available_tools": _TOOLS, "answer": {"method": "m", "answer_details": node}}
    found = converted(raw, "x")
    assert [(c.args, c.ok, c.response[:20]) for c in found.calls] == [
        ({"q": "a"}, True, '{"error": "", "respo'),
        ({"q": "b"}, False, '{"error": "It is out'),
        ({"q": "a long one, so long, and longer"}, None, '{"er'),
        (None, None, ""),
        (None, None, ""),
    ]
    assert not any(c.whole for c in found.calls)
    assert [d.flaw for d in found.defects] == ["truncated"] * 4 + ["malformed"]
    responses = Responses([found])
    told = [responses.answer("find_for_shop", c.args).status for c in found.calls if c.args is not None]
    assert told == [206, 422, 206]
    assert responses.answer("find_for_shop", {"q": "a"}).text.startswith('{"error": "", "response": "y')
    with RecordedServer(responses) as server, httpx.Client(trust_env=False) as client:
        asked = {"category": "C", "tool_name": "Shop", "api_name": "Find", "tool_input": {"q": "a"}}
        assert client.post(server.url, json=asked).status_code == 404


def test_toolbench_loads_whole() -> None:
    """All 600 evaluation traces, 15 trees and 11 queries load; every cut message of the evaluation set is reported."""
    found = load(data("toolbench"))
    assert Counter(t.method for t in found.traces) == {"chatgpt_CoT": 600, "DFS": 15}
    assert len(found.queries) == 11
    assert [line.split(":")[0] for line in found.unreadable] == [
        "data_example/toolenv/response_examples/Business/acrosuite_oauther.json"
    ]
    cut = [d for t in found.traces for d in t.defects if d.what == "the message is cut at 100 characters"]
    assert len(cut) == 2634
    gondrand = next(t for t in found.traces if t.source.endswith("G1_answer/10_ChatGPT_DFS_woFilter_w2.json"))
    assert [c.tool for c in gondrand.path] == ["transitaires_for_transitaires", "transitaire_for_transitaires"]


def test_stabletoolbench_loads_whole() -> None:
    """All 765 solvable queries, 6 answers and 6 converted runs load, and nothing is unreadable."""
    found = load(data("stabletoolbench"))
    assert (len(found.queries), len(found.traces), found.unreadable) == (765, 12, ())
    relevant = [name for q in found.queries for name in q.relevant]
    offered = {spec.name for q in found.queries for spec in q.tools}
    assert sum(name in offered for name in relevant) / len(relevant) > 0.99


def test_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    """A folder without runs or queries is refused; broken files are named."""
    with pytest.raises(UserError, match="no folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "broken.json.gz").write_bytes(gzip.compress(b"{")[:-4])
    with pytest.raises(UserError, match=r"broken\.json"):
        load(tmp_path)


def test_names_are_the_harness_own() -> None:
    """Tools, APIs and parameters are named as the harness names them."""
    assert standard("A/b  C!") == "a_b_c"
    assert standard("123 Go") == "get_123_go"
    assert argument("ID") == "is_id"
    assert function("TrackingMore_v2", "carriers/detect") == "carriers_detect_for_trackingmore_v2"
    assert len(function("x" * 60, "y" * 60)) == 64


def test_server_answers_recorded_calls_and_says_what_it_misses() -> None:
    """Over HTTP a recorded call gets its answer, another a miss with status 404, and a wrong request a 400."""
    root = _node("Action Input", "", _call("find_for_shop", '{"q": "a"}', answer='{"error": "", "response": "A"}'))
    responses = Responses([answer_file(_file(root), "x")])
    asked = {"category": "C", "tool_name": "Shop", "api_name": "Find", "strip": "", "toolbench_key": ""}
    with RecordedServer(responses) as server, httpx.Client(trust_env=False) as client:
        hit = client.post(server.url, json={**asked, "tool_input": '{"q": "a"}'})
        miss = client.post(server.url, json={**asked, "tool_input": {"q": "b"}})
        wrong = client.post(server.url, json={"tool_name": "Shop"})
    assert (hit.status_code, hit.json()["response"]) == (200, "A")
    assert (miss.status_code, miss.json()["error"]) == (404, "not recorded")
    assert wrong.status_code == 400


def test_live_endpoint_fills_misses() -> None:
    """With a live endpoint a miss is asked there; one that does not answer is an environment failure."""
    root = _node("Action Input", "", _call("find_for_shop", '{"q": "a"}', answer='{"error": "", "response": "A"}'))
    recorded = Responses([answer_file(_file(root), "x")])
    asked = {"category": "C", "tool_name": "Shop", "api_name": "Find", "tool_input": {"q": "a"}}
    with RecordedServer(recorded) as upstream:
        live = Live(upstream.url, "a-key")
        with RecordedServer(Responses([]), live) as server, httpx.Client(trust_env=False) as client:
            assert client.post(server.url, json=asked).json()["response"] == "A"
    with pytest.raises(EnvironmentFailure, match="endpoint"):
        live.answer(("C", "Shop", "Find"), {"q": "a"})
