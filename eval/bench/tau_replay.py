"""Replays τ-bench's recorded runs against the matching databases: do the recorded verdicts come out again?"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebind.envs.adapters.lines import Side
from rebind.envs.adapters.tau2.install import start
from rebind.envs.answers import value_of
from rebind.errors import UserError
from rebind.types import Progress

_INJECTED = "503 Service Unavailable"
_SHOWN = 5
"""Differences shown of each run."""
_PATIENCE = 600.0
"""Seconds for one answer; loading a database takes one or two on an idle core."""
_PARTS = ("outputs", "gold_hash", "observations")


@dataclass(frozen=True)
class _Run:
    name: str
    file: str
    domain: str
    database: str


_RUNS = (
    _Run("airline", "runs/airline-gpt-4o.json", "airline", "envs_2024-11/airline"),
    _Run("retail", "runs/retail-tool-calling.json", "retail", "envs/retail"),
    _Run("retail_faults", "runs/retail-faults-503.json", "retail", "envs/retail"),
)


def run_tau_replay(data: Path, progress: Progress) -> dict[str, Any]:
    """Replays every run that the folder has (`runs/`, `envs/`, `envs_2024-11/`, packed with gzip or not; see
    docs/originals.md).

    Of each run: `agree` and `of` over records whose database verdict was recorded with the hash of the gold database;
    `gold_hash` equal, `outputs` (records judged by what was said, too), `verdicts` (both together), `observations`
    equal, and `replayable` with the reasons where it is not.

    Raises:
        UserError: the folder has no run, or τ² is not installed.
        Refused: a database is not there, or is none of τ-bench's.
    """
    there = [run for run in _RUNS if (data / run.file).exists() or _packed(data / run.file).exists()]
    if not there:
        files = ", ".join(run.file for run in _RUNS)
        raise UserError(f"{data} holds none of {files}; --data names the folder with τ-bench's runs/ and envs/")
    result: dict[str, Any] = {}
    for run in there:
        side = start()
        try:
            side.ask("recorded", seconds=_PATIENCE, domain=run.domain, folder=str((data / run.database).resolve()))
            records = _read(data / run.file)
            result[run.name] = {"database": run.database, **_replay(side, records, run.name, progress)}
        finally:
            side.close()
    return result


def _replay(side: Side, records: list[dict[str, Any]], name: str, progress: Progress) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    differing: list[dict[str, Any]] = []
    for done, record in enumerate(records):
        progress(name, done, len(records))
        calls = list(_calls(record["traj"]))
        gold = [{"tool": a["name"], "args": a["kwargs"]} for a in record["info"]["task"]["actions"]]
        gold = [call for call in gold if call["tool"] != "respond"]
        replayed = side.ask(
            "replay", seconds=_PATIENCE, calls=[{"tool": c["tool"], "args": c["args"]} for c in calls], gold=gold
        )
        for call, observation in zip(calls, replayed["observations"], strict=True):
            same = value_of(observation) == value_of(call["observation"])
            counts["observations"] += 1
            counts["observations_equal"] += same
            counts["injected"] += not same and _INJECTED in call["observation"]
            if not same:
                differing.append({"task": record["task_id"], "trial": record["trial"], **call, "replayed": observation})
        _judge(record, replayed, counts)
    return _summary(len(records), counts, differing)


def _judge(record: dict[str, Any], replayed: dict[str, Any], counts: Counter[str]) -> None:
    """Holds the replayed verdict against the recorded one (τ-bench's `calculate_reward`)."""
    recorded = record["info"].get("reward_info")
    if not recorded:
        counts["without_verdict"] += 1
        return
    info = recorded["info"]
    if "gt_data_hash" in info:
        counts["of"] += 1
        counts["agree"] += replayed["same"] == bool(info["r_actions"])
        counts["gold_hash"] += replayed["gold_hash"] == info["gt_data_hash"]
        reward = float(replayed["same"])
    else:
        said = [str(m["content"]).lower().replace(",", "") for m in record["traj"] if _speaks(m)]
        found = {out: any(out.lower() in text for text in said) for out in record["info"]["task"]["outputs"]}
        reward = float(replayed["same"] and all(found.values()))
        counts["outputs_of"] += 1
        counts["outputs_agree"] += reward == recorded["reward"] and found == info["outputs"]
    counts["reshaped"] += "components" in recorded


def _summary(records: int, counts: Counter[str], differing: list[dict[str, Any]]) -> dict[str, Any]:
    reasons = []
    if counts["injected"]:
        reasons.append(
            f"{counts['injected']} calls were answered {_INJECTED!r} by an injected fault, which no database can repeat"
        )
    if counts["reshaped"]:
        reasons.append(f"{counts['reshaped']} rewards were reshaped by bonuses and penalties beside τ-bench's verdict")
    elsewhere = len(differing) - counts["injected"]
    if elsewhere:
        reasons.append(f"{elsewhere} other observations differ")
    hashes = counts["of"] - counts["gold_hash"]
    if hashes:
        reasons.append(f"{hashes} gold databases are not the recorded ones: the run was recorded on other databases")
    verdicts = counts["of"] + counts["outputs_of"] - counts["agree"] - counts["outputs_agree"]
    if verdicts and not counts["reshaped"]:
        reasons.append(f"{verdicts} verdicts differ")
    return {
        "agree": counts["agree"],
        "of": counts["of"],
        "gold_hash": {"equal": counts["gold_hash"], "of": counts["of"]},
        "outputs": {"agree": counts["outputs_agree"], "of": counts["outputs_of"]},
        "verdicts": {
            "agree": counts["agree"] + counts["outputs_agree"],
            "of": counts["of"] + counts["outputs_of"],
        },
        "observations": {"equal": counts["observations_equal"], "of": counts["observations"]},
        "records": records,
        "without_verdict": counts["without_verdict"],
        "replayable": not reasons,
        "why_not": reasons,
        "differing": differing[:_SHOWN],
    }


def _calls(messages: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Tool calls in order, each with what was answered; one that was never answered is left out."""
    asked: dict[str, dict[str, Any]] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            asked[call["id"]] = call["function"]
        if message["role"] == "tool":
            function = asked[message["tool_call_id"]]
            yield {
                "tool": function["name"],
                "args": json.loads(function["arguments"]),
                "observation": str(message["content"]),
            }


def _speaks(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes() if path.exists() else gzip.decompress(_packed(path).read_bytes())
    records: list[dict[str, Any]] = json.loads(data)
    return records


def _packed(path: Path) -> Path:
    return path.with_name(path.name + ".gz")


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """The runs as one table: (title, columns, rows)."""
    columns = ["run", "database", "verdicts", "with outputs", "gold hash", "observations", "replayable"]
    rows = []
    for name, run in result.items():
        shares = [f"{run['agree']}/{run['of']}"]
        shares += [f"{part.get('agree', part.get('equal'))}/{part['of']}" for part in map(run.get, _PARTS)]
        rows.append([name, run["database"], *shares, "yes" if run["replayable"] else "; ".join(run["why_not"])])
    return [("Recorded runs, replayed", columns, rows)]
