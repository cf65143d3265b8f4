"""The benchmarks on made-up stores at small sizes, and on the documents of HotpotQA and τ²-bench."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.openai_server import Reply, completion, playback, usage
from support.shards import embed

from rebind.agents.llm import LLM, Endpoint
from rebind.eval.bench.shardmemo.banking import run_banking
from rebind.eval.bench.shardmemo.hotpot import _load, run_hotpot
from rebind.eval.bench.shardmemo.permissions import run_permissions
from rebind.eval.bench.shardmemo.scale import run_scale
from rebind.eval.bench.shardmemo.scope import run_scope
from rebind.types import Completion, Request


def test_no_change_of_rights_leaks_or_hides_an_item_and_every_refusal_is_explained() -> None:
    result = run_permissions(changes=25)
    assert result["reads"] == 25
    assert result["items_returned"] > 0
    assert result["refusals"] > 0
    assert [result[key] for key in ("leaks", "missing", "unexplained", "wrongly_explained")] == [0, 0, 0, 0]


def test_a_store_of_many_shards_is_read_exactly_and_shared_between_processes(tmp_path: Path) -> None:
    result = run_scale(shards=200, items=3_000, queries=20, processes=2, folder=tmp_path / "store")
    assert result["recall"] == 1.0
    assert result["items"] == 3_000
    assert result["rss_mb"] > result["private_mb"] > 0
    assert result["admissible_shards"]["100"] > result["admissible_shards"]["5"]


def test_scope_first_is_exact_and_look_alike_tenants_cost_a_post_filter_probes() -> None:
    result = run_scope([2_000])
    first = [row for row in result["rows"] if row["method"] == "scope-first"]
    assert [row["recall"] for row in first] == [1.0] * 4
    rare = [row for row in result["rows"] if row["method"] == "post-filter"][-1]
    assert rare["recall"] < 0.5
    twins = result["twins"]
    assert (twins["inadmissible_probes"], twins["inadmissible_items"]) == (0, 0)
    assert twins["post_filter"]["inadmissible_probes"] > 0
    assert twins["difference"] > 0


class _Parrot:
    """A model that answers with the question's first word."""

    def complete(self, request: Request) -> Completion:
        return Completion(text=request.messages[0].content.split("Question: ")[1].split()[0])

    def count(self, request: Request) -> int:
        return len(request.messages[0].content.split())


def test_hotpot_contexts_admit_their_own_documents_alone(shard_data: Path) -> None:
    result = run_hotpot(shard_data, embed, tokens=8_000, limit=20, model=_Parrot(), model_name="simulated/parrot")
    assert result["questions"] == 10
    assert result["context_documents"] < result["documents"]
    routed = [row for row in result["rows"] if row["mode"] == "routed"]
    assert [row["router"] for row in routed] == ["cosine", "bm25", "feature"]
    assert all(row["inadmissible_items"] == 0 and 0 <= row["f1"] <= 1 for row in routed)


def test_answers_to_hotpot_come_through_the_door_and_are_scored_against_the_gold_ones(shard_data: Path) -> None:
    """Over HTTP on loopback: the question and what was found go out, the answer comes back and is scored."""
    with playback([Reply(completion("Yes.", usage()))]) as server:
        endpoint = Endpoint(model="openai/m", api_base=server.url, api_key="k")
        result = run_hotpot(
            shard_data, embed, tokens=4_000, limit=8, model=LLM({"m": endpoint}), model_name="m"
        )  # fmt: skip
    asked = [one["messages"][0]["content"] for one in server.asked]
    gold = [one["answer"] for one in _load(shard_data)[4:8]]
    assert len(asked) == 12  # four questions, three routers
    assert all("Question: " in text and len(text.splitlines()) > 10 for text in asked)
    assert [row["f1"] for row in result["rows"][:3]] == [gold.count("yes") / 4] * 3
    assert "f1" not in result["rows"][3]


def test_banking_topics_narrow_what_is_admitted(shard_data: Path) -> None:
    result = run_banking(shard_data, embed)
    assert (result["documents"], result["labels"], result["tasks"]) == (698, 949, 97)
    by_scope = {row["scope"]: row for row in result["rows"] if row["router"] == "bm25"}
    assert by_scope["topics"]["recall10"] >= by_scope["everything"]["recall10"]
    assert by_scope["topics"]["inadmissible_items"] == 0
    assert by_scope["topics"]["scan_fraction"] > by_scope["everything"]["scan_fraction"]


@pytest.mark.parametrize("run", [run_hotpot, run_banking])
def test_missing_data_are_named(tmp_path: Path, run: object) -> None:
    from rebind.eval.bench.shardmemo.locomo_data import DataError

    with pytest.raises(DataError, match=str(tmp_path)):
        run(tmp_path, embed)  # type: ignore[operator]  # both take a folder and an encoder
