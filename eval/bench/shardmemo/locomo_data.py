"""LoCoMo as Tier B holds it: turns, facts on speakers, session summaries, laid out in S shards a conversation."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from rebind.canon import file_digest
from rebind.errors import UserError
from rebind.memory.shard.scope import ItemMeta
from rebind.memory.shard.segment import Item

TEST = ("conv-49", "conv-50")
"""The paper's 314 test questions (its 8/2 split by conversation)."""
_ADVERSARIAL = 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_ID = re.compile(r"D:?(\d+):(\d+)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class DataError(UserError):
    """Benchmark data that is not where it was said to be, or not what it should be."""


@dataclass(frozen=True)
class Question:
    text: str
    answer: str
    category: str
    evidence: tuple[str, ...]
    """Ids of the turns that hold the answer; empty where the data name none that exists."""


@dataclass(frozen=True)
class Source:
    """A turn, fact or summary sentence before it is laid out."""

    id: str
    text: str
    kind: str
    """"turn", "fact" or "summary"."""
    session: int
    speaker: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversation:
    name: str
    speakers: tuple[str, str]
    times: dict[int, datetime]
    """When each session took place."""
    sources: tuple[Source, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Locomo:
    conversations: tuple[Conversation, ...]
    digest: str
    without_evidence: int
    """Questions that name no turn."""
    bad_ids: tuple[str, ...]
    """Evidence ids of turns that do not exist, as "conversation id"."""
    repaired_ids: int
    """Evidence entries that were several ids in one, or misspelt, and could be read."""


def load_locomo(path: Path) -> Locomo:
    """The author's file, gzipped or not.

    Raises:
        DataError: it is missing or is not LoCoMo.
    """
    try:
        content = path.read_bytes()
        raw = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        if not isinstance(raw, list) or not raw:
            raise ValueError("no list of conversations")
        made = [_conversation(one) for one in raw]
    except (FileNotFoundError, IsADirectoryError):
        raise DataError(f"{path} is no file: give --data the path of locomo10.json.gz") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not LoCoMo's file of conversations: {error!r}") from None
    questions = [q for conversation, _, _ in made for q in conversation.questions]
    return Locomo(
        conversations=tuple(conversation for conversation, _, _ in made),
        digest=file_digest(path),
        without_evidence=sum(not one["evidence"] for c in raw for one in c["qa"] if one["category"] != _ADVERSARIAL),
        bad_ids=tuple(f"{c.name} {bad}" for c, bads, _ in made for bad in bads),
        repaired_ids=sum(repaired for _, _, repaired in made) if questions else 0,
    )


def _conversation(raw: dict[str, Any]) -> tuple[Conversation, list[str], int]:
    """A conversation, the evidence ids that lead nowhere, and how many entries were repaired."""
    talk = raw["conversation"]
    sessions = sorted(int(k.split("_")[1]) for k, v in talk.items() if re.fullmatch(r"session_\d+", k) and v)
    times = {s: _moment(talk[f"session_{s}_date_time"]) for s in sessions}
    sources: list[Source] = []
    for s in sessions:
        sources.extend(_turn(turn, s) for turn in talk[f"session_{s}"])
    for s in sessions:
        sources.extend(_facts(raw["observation"].get(f"session_{s}_observation", {}), s))
        sources.extend(_summary(raw["session_summary"].get(f"session_{s}_summary", ""), s))
    turns = {source.id for source in sources if source.kind == "turn"}
    bad: list[str] = []
    repaired = 0
    questions: list[Question] = []
    for one in raw["qa"]:
        if one["category"] == _ADVERSARIAL:
            continue
        evidence, wrong, mended = _evidence(one["evidence"], turns)
        bad.extend(wrong)
        repaired += mended
        questions.append(Question(one["question"], str(one["answer"]), CATEGORIES[one["category"]], evidence))
    speakers = (talk["speaker_a"], talk["speaker_b"])
    return Conversation(raw["sample_id"], speakers, times, tuple(sources), tuple(questions)), bad, repaired


def _evidence(entries: Sequence[str], turns: set[str]) -> tuple[tuple[str, ...], list[str], int]:
    """Evidence ids that exist, entries that name none, and how many entries had to be read leniently."""
    found: dict[str, None] = {}
    bad: list[str] = []
    repaired = 0
    for entry in entries:
        ids = [f"D{int(a)}:{int(b)}" for a, b in _ID.findall(entry)]
        real = [one for one in ids if one in turns]
        found.update(dict.fromkeys(real))
        if not real:
            bad.append(entry)
        elif real != [entry]:
            repaired += 1
    return tuple(found), bad, repaired


def _turn(turn: dict[str, Any], session: int) -> Source:
    shown = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Source(turn["dia_id"], f"{turn['speaker']}: {turn['text']}{shown}", "turn", session, turn["speaker"])


def _facts(by_speaker: dict[str, list[list[Any]]], session: int) -> list[Source]:
    facts: list[Source] = []
    for speaker, told in by_speaker.items():
        for number, (text, cited) in enumerate(told):
            ids = _ID.findall(" ".join(cited) if isinstance(cited, list) else cited)
            cites = tuple(f"D{int(a)}:{int(b)}" for a, b in ids)
            facts.append(Source(f"fact:{session}:{speaker}:{number}", text, "fact", session, speaker, cites))
    return facts


def _summary(text: str, session: int) -> list[Source]:
    sentences = [sentence for sentence in _SENTENCE.split(text.strip()) if sentence]
    return [Source(f"summary:{session}:{n}", sentence, "summary", session, "") for n, sentence in enumerate(sentences)]


def _moment(text: str) -> datetime:
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def lay_out(conversation: Conversation, shards: int = 40, *, session_only: bool = False) -> list[Item]:
    """Items in shards: 2 profile shards, the others divided between observation and session shards (2 + 19 + 19).

    With `session_only` every item stands in a session shard, `shards` of them (Table 6's ablation).
    """
    blocks = shards if session_only else (shards - 2 + 1) // 2
    turns = [s for s in conversation.sources if s.kind == "turn"]
    block = _blocks(turns, blocks)
    summary_blocks = blocks if session_only else max(1, shards - 2 - blocks)
    summary_of = {s: b * summary_blocks // blocks for s, b in _session_blocks(turns, block).items()}
    told = _facts_on(conversation)
    items: list[Item] = []
    for source in conversation.sources:
        if session_only:
            place = block[source.id] if source.kind == "turn" else summary_of[source.session]
            shard, family = f"session{place:03}", "session"
        elif source.kind == "fact":
            shard, family = f"profile:{source.speaker}", "profile"
        elif source.kind == "turn":
            shard, family = f"observation{block[source.id]:03}", "observation"
        else:
            shard, family = f"session{summary_of[source.session]:03}", "session"
        meta = ItemMeta(
            user=conversation.name,
            session=f"session_{source.session}",
            speaker=source.speaker,
            time=conversation.times[source.session],
        )
        name = f"{conversation.name}/{shard}"
        cites = tuple(f"{conversation.name}/{one}" for one in source.cites)
        item_id = f"{conversation.name}/{source.id}"
        context = "\n".join(told.get(source.id, ()))
        items.append(
            Item(id=item_id, text=source.text, shard=name, family=family, meta=meta, cites=cites, context=context)  # type: ignore[arg-type]  # the literals above are Families
        )
    return items


def _facts_on(conversation: Conversation) -> dict[str, list[str]]:
    """The facts drawn from each turn: a turn is found by them too."""
    told: dict[str, list[str]] = {}
    for source in conversation.sources:
        for cited in source.cites:
            told.setdefault(cited, []).append(source.text)
    return told


def _session_blocks(turns: Sequence[Source], block: dict[str, int]) -> dict[int, int]:
    """The block in which each session begins."""
    first: dict[int, int] = {}
    for turn in turns:
        first.setdefault(turn.session, block[turn.id])
    return first


def _blocks(turns: Sequence[Source], count: int) -> dict[str, int]:
    """Each turn's block: runs of whole sessions of the most even sizes; pieces of sessions where there are fewer
    sessions than blocks."""
    sessions = sorted({turn.session for turn in turns})
    if len(sessions) < count:
        return {turn.id: place * count // len(turns) for place, turn in enumerate(turns)}
    sizes = [sum(turn.session == s for turn in turns) for s in sessions]
    cuts = _even_cuts(sizes, count)
    of_session = {s: int(np.searchsorted(cuts, i, side="right")) for i, s in enumerate(sessions)}
    return {turn.id: of_session[turn.session] for turn in turns}


def _even_cuts(sizes: Sequence[int], count: int) -> list[int]:
    """Where to cut a row of sizes into `count` runs with the least sum of squares (dynamic programming)."""
    total = np.concatenate([[0], np.cumsum(sizes)]).astype(np.float64)
    n = len(sizes)
    best = np.full((count + 1, n + 1), np.inf)
    best[0, 0] = 0.0
    come = np.zeros((count + 1, n + 1), dtype=np.int64)
    for made in range(1, count + 1):
        for end in range(made, n + 1):
            values = best[made - 1, :end] + (total[end] - total[:end]) ** 2
            come[made, end] = int(values.argmin())
            best[made, end] = values.min()
    cuts: list[int] = []
    end = n
    for made in range(count, 1, -1):
        end = int(come[made, end])
        cuts.append(end)
    return cuts[::-1]
