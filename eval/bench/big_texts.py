"""Texts and values of a made ledger: sentences of common words, JSON listings, bindings; as long as real ones are."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from typing import Any

from rebind.types import BindingKind

SUCCESS = {
    "none": (0.45, 0.42, 0.40, 0.38),
    "summary": (0.62, 0.56, 0.50, 0.44),
    "full": (0.72, 0.60, 0.49, 0.41),
    "qcr": (0.74, 0.70, 0.66, 0.60),
    "skill": (0.70, 0.63, 0.57, 0.50),
}
"""Planted chance of success by condition and shift level."""
_SYLLABLES = ("ar", "ben", "cor", "da", "el", "fin", "ga", "hol", "im", "jun", "ka", "lor", "mi", "nor", "os", "pel")
_NAMES = ("Quinby", "Thrave", "Vexley", "Zubiri", "Wyckham", "Yarrow", "Jethwa", "Uxbury", "Xylander", "Quarrie")
_APPS = ("mail", "bank", "shop", "notes", "files", "calendar", "chat")
_DEEDS = ("search", "show", "list", "update", "create", "add_label")
_WORK = ("adjust", "settle", "renew", "file", "return", "invite", "reorder")


def family_of(number: int) -> str:
    """One of 28 families."""
    return f"{_APPS[number % 7]}_{_WORK[(number // 7) % 4]}"


def record_length(number: int) -> int:
    """Effective actions of a record, over every length group."""
    return (4, 7, 9, 14, 18, 24, 31, 40)[(number * 5) % 8]


def _name(luck: random.Random) -> str:
    return " ".join(luck.sample(_NAMES, 2))


@dataclass(frozen=True)
class Values:
    """The bindings of a task."""

    customer: str
    invoice: str
    due: str
    amount: int
    folder: str

    @classmethod
    def draw(cls, luck: random.Random) -> Values:
        return cls(
            customer=_name(luck),
            invoice=f"inv_{luck.randrange(10_000, 99_999)}",
            due=f"2025-{luck.randrange(1, 13):02d}-{luck.randrange(1, 29):02d}",
            amount=luck.randrange(1_000, 90_000),
            folder=f"/{luck.choice(_NAMES)}/{luck.choice(_NAMES)}".lower(),
        )

    def shifted(self, bindings: int, luck: random.Random) -> Values:
        """The same with that many values drawn anew."""
        other = Values.draw(luck)
        names = ("invoice", "customer", "due", "amount")[:bindings]
        return replace(self, **{n: getattr(other, n) for n in names})

    def all(self) -> dict[str, tuple[BindingKind, str | int]]:
        return {
            "customer": ("user", self.customer), "invoice": ("record", self.invoice), "due": ("date", self.due),
            "amount": ("parameter", self.amount), "folder": ("location", self.folder),
        }  # fmt: skip

    def differs_from(self, other: Values) -> list[str]:
        return [n for n, v in self.all().items() if other.all()[n] != v]


class Words:
    """Draws texts; what it draws depends on all that was drawn before."""

    def __init__(self, luck: random.Random) -> None:
        self._luck = luck
        made = {"".join(luck.choices(_SYLLABLES, k=luck.choice((1, 2, 2, 3)))) for _ in range(900)}
        self._pool = sorted(made)
        self._prompt, self._schema = self.sentence(900), {"anyOf": [self._listing(3, "s") for _ in range(8)]}

    def sentence(self, words: int) -> str:
        return " ".join(self._luck.choices(self._pool, k=words)).capitalize() + "."

    def goal(self, values: Values) -> str:
        return (
            f"Please {self.sentence(9)} The bill {values.invoice} of {values.customer} is meant; put it into "
            f"{values.folder}. {self.sentence(12)}"
        )

    def tools(self, many: int) -> list[str]:
        return [f"{self._luck.choice(_APPS)}_{self._luck.choice(_DEEDS)}" for _ in range(many)]

    def step(self, index: int, world: str, values: dict[str, Any]) -> dict[str, Any]:
        """A dumped Step of one call; `values` may hold bindings to be `shown` in its result or `used` in its action."""
        tool, number = self.tools(1)[0], self._luck.randrange(10_000, 99_999)
        args: dict[str, Any] = {"access_token": f"tok{world}{number}", "page": 1, "query": self.sentence(3)}
        args.update({k: v for k, v in values.get("used", {}).items() if k != "due"})
        result: dict[str, Any] = self._listing(self._luck.choice((1, 2, 3, 4)), f"{world}-{index}")
        if "shown" in values:
            result["items"].append({**values["shown"], "invoice_id": number})
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        done = {"tool": tool, "args": args, "status": 200 if number % 17 else 422, "result": result}
        return {
            "action": {"tool": tool, "args": args}, "observation": text, "calls": [done],
            "error": None if number % 17 else "422: " + self.sentence(8), "thought": "",
        }  # fmt: skip

    def _listing(self, items: int, world: str) -> dict[str, Any]:
        found = [
            {
                "mail_id": f"mail_{self._luck.randrange(10_000, 99_999)}",
                "sender": f"{self._luck.choice(self._pool)}.{self._luck.choice(self._pool)}@example.test",
                "subject": self.sentence(5),
                "sent_at": f"2025-{self._luck.randrange(1, 13):02d}-17T09:{self._luck.randrange(60):02d}",
                "world": world,
                "read": True,
            }
            for _ in range(items)
        ]
        return {"items": found, "page": 1, "pages": 1, "total": items}

    def support(self, condition: str, tokens: int) -> dict[str, Any]:
        """A dumped Support of about that many tokens; a note is written by one model call."""
        usage = {"prompt": 2_600, "completion": 230, "cached": None, "reasoning": None}
        wrote = condition == "qcr"
        note = {k: self.sentence(35) for k in ("workflow", "rebind", "applies", "verify")} if wrote else None
        prompt: list[dict[str, Any]] = [
            {"role": "user", "content": self.sentence(1_300), "tool_calls": [], "tool_call_id": None}
        ]
        asked = {"model": "simulated/planted", "purpose": "writer", "messages": prompt, "schema_": None, "tools": []}
        return {
            "condition": condition,
            "text": self.sentence(max(1, tokens // 2)) if tokens else "",
            "turns": [self.step(n, "t", {}) for n in range(9)] if condition == "full" else [],
            "turns_goal": "", "turns_first_observation": "", "note": note, "skills": [],
            "completions": [{**self._answer(usage), "text": "{}", "tool_calls": [], "finish": "stop"}] if wrote else [],
            "requests": [asked] if wrote else [], "flags": [],
        }  # fmt: skip

    def call(self, index: int, step: dict[str, Any], memory: int) -> dict[str, Any]:
        """A `call` event: the first with the whole prompt, each other with what came after the one before."""
        answer = json.dumps(step["action"], ensure_ascii=False)
        said = self._prompt if index == 0 else step["observation"]
        messages: list[dict[str, Any]] = [
            {"role": role, "content": text, "tool_calls": [], "tool_call_id": None}
            for role, text in (("assistant", answer), ("user", said))
        ]
        usage = {
            "prompt": 1_450 + memory + 330 * index, "completion": 20 + len(answer) // 4, "cached": 1_024 * (index > 0),
            "reasoning": None,
        }  # fmt: skip
        return {
            "index": index, "kept": 2 * index, "messages": messages, "tools": None,
            "schema": self._schema if index == 0 else None, "text": answer, "tool_calls": [], "finish": "stop",
            "mem_tokens": memory, "model": "simulated/planted",
            "decoding": {"temperature": 0.2, "top_p": 0.95, "max_tokens": 4_096, "seed": 0}, **self._answer(usage),
        }  # fmt: skip

    def _answer(self, usage: dict[str, Any]) -> dict[str, Any]:
        attempt = {
            "started": 1.7e9 + self._luck.random(), "ms": 1_000 * self._luck.random(), "status": 200, "error": None,
            "usage": usage, "raw_usage": {"prompt_tokens": usage["prompt"], "completion_tokens": usage["completion"]},
            "cost": 1e-6 * usage["prompt"],
        }  # fmt: skip
        return {"usage": usage, "attempts": [attempt], "replayed": False}
