"""`rebind ledger replay`: does the environment still answer the recorded actions as the ledger says it did?

An episode's actions (not its model) are run again in the environment, reset from the target's seal: tool calls, blocks
of code, and skills with the calls inside them. What comes back is compared step by step, and the verdict at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rebind.banks.files import silent
from rebind.banks.worlds import world_of
from rebind.errors import UserError, did_you_mean
from rebind.eval.attempts import Attempts, EndedAttempt
from rebind.eval.differing import differences
from rebind.memory.index import query_text
from rebind.memory.skill.environment import SkillEnvironment
from rebind.secrets import MASK
from rebind.types import Code, Environment, Progress, Redacted, Seal, Skill, Step, ToolCall

SHOWN = 20
"""Lines of one difference at most."""
_COMPARED = ("observation", "calls", "error")
_NOT_COMPARED = "not compared"

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """Where an episode first went another way than the ledger says."""

    cell: str
    attempt: int
    step: int | None
    """Index of the first step that differs; None where none does."""
    what: str
    """What differed first, in words: the first observation, that step, or the verdict."""
    diff: tuple[str, ...]
    """Lines: what the ledger says ("- ") and what came back ("+ "), by place."""
    verdict: str
    """"same", "differs" or "not compared" (none was recorded, or the environment failed)."""


@dataclass
class Replay:
    """What a replay found. `episodes` = `same` + `differ` + `skipped`."""

    episodes: int = 0
    same: int = 0
    differ: int = 0
    skipped: int = 0
    steps: int = 0
    """Steps that were run again."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why episodes were skipped."""
    differences: list[Difference] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reasons": dict(self.reasons)}

    def skip(self, reason: str) -> None:
        self.episodes += 1
        self.skipped += 1
        self.reasons[reason] += 1

    def take(self, difference: Difference | None, steps: int) -> None:
        """Counts an episode that was run again."""
        self.episodes += 1
        self.steps += steps
        if difference is None:
            self.same += 1
        else:
            self.differ += 1
            self.differences.append(difference)


class _Found(NamedTuple):
    """One place at which the episode went another way."""

    step: int | None
    what: str
    diff: tuple[str, ...] = ()


def replay(folder: Path, *, cell: str | None = None, every: bool = False, progress: Progress = silent) -> Replay:
    """Replays the last ended attempt at every cell of a run.

    Args:
        cell: only cells whose id starts so.
        every: earlier attempts too, those that infrastructure ended.

    Raises:
        LedgerError: there is no ledger, or it cannot be read. UserError: no cell's id starts so.
    """
    attempts = Attempts(folder, every=every)
    wanted = {c for c in attempts.cells if c.startswith(cell or "")}
    if not wanted:
        raise UserError(f"no episode in {folder} is of a cell {cell!r}{did_you_mean(cell or '', attempts.cells)}")
    found, warm = Replay(), _Environments()
    try:
        for done, attempt in enumerate(attempts):
            progress("episodes", done, len(attempts))
            if attempt.cell.id not in wanted:
                continue
            reason = _unplayable(attempt) or warm.missing(attempt.target["task"]["env"])
            if reason:
                found.skip(reason)
            else:
                found.take(_replayed(attempt, warm), sum(1 for _ in attempt.of("step")))
    finally:
        warm.close()
    for _ in wanted.intersection(attempts.open):
        found.skip("no attempt has ended")
    progress("episodes", len(attempts), len(attempts))
    return found


def _unplayable(attempt: EndedAttempt) -> str:
    """Why an attempt cannot be run again; empty where it can."""
    if attempt.data("support") is None:
        return "it ended before its first step"
    if any(_lacking(step.data["action"]) for step in attempt.of("step")):
        return "an action is masked or redacted in the ledger"
    if any(_lacking(event.data) for event in attempt.of("skill")):
        return "what a skill fell back on is redacted in the ledger"
    if _lacking([attempt.target["seal"], attempt.target["task"]]) or _lacking(
        (attempt.data("support") or {})["skills"]
    ):
        return "the seal or a skill is redacted in the ledger"
    if any("part" in note.data for note in attempt.of("note")):
        return "a model plays a part in its environment"
    return ""


def _lacking(value: Any) -> bool:
    """Whether something was taken out of a value."""
    if isinstance(value, dict):
        return any(map(_lacking, value.values()))
    if isinstance(value, list):
        return any(map(_lacking, value))
    return isinstance(value, Redacted) or (isinstance(value, str) and MASK in value)


def _replayed(attempt: EndedAttempt, warm: _Environments) -> Difference | None:
    """The first difference, or None where all is as it was."""
    env_id, step, found = attempt.target["task"]["env"], None, list[_Found]()
    try:
        plain = warm.get(env_id)
        first, _ = plain.reset(options={"seal": Seal.model_validate(attempt.target["seal"])})
        found += _first_observation(attempt, first)
        support: Json = attempt.data("support") or {}
        skills = [Skill.model_validate(skill) for skill in support["skills"]]
        env: Environment = SkillEnvironment(plain, skills, _recorded_evidence(attempt)) if skills else plain
        for event in attempt.of("step"):
            step = int(event.data["index"])
            found += _step(event.data, env)
        step = None
        verdict, lines = _verdict(attempt, plain)
    except Exception as error:  # whatever an environment raises is a finding, and ends this episode alone
        warm.drop(env_id)
        found.append(_Found(step, f"the environment failed: {type(error).__name__}: {error}"))
        return _difference(attempt, found, _NOT_COMPARED)
    if lines:
        found.append(_Found(None, "the verdict differs", lines))
    return _difference(attempt, found, verdict) if found else None


def _recorded_evidence(attempt: EndedAttempt) -> Callable[[], str] | None:
    """What a skill that failed fell back on, as the ledger has it; None where there was no such thing."""
    texts = [e.data["text"] for e in attempt.of("skill") if e.data["what"] == "fallback"]
    return (lambda: str(texts[0])) if texts else None


def _difference(attempt: EndedAttempt, found: list[_Found], verdict: str) -> Difference:
    step = next((one.step for one in found if one.step is not None), None)
    return Difference(attempt.cell.id, attempt.number, step, found[0].what, found[0].diff, verdict)


def _first_observation(attempt: EndedAttempt, first: str) -> Iterator[_Found]:
    """Compares what the agent saw first, which the ledger holds in the target's query."""
    query = attempt.selection.get("query")
    before = query_text(attempt.target["task"]["goal"], " ")[:-1]
    if isinstance(query, str) and not isinstance(query, Redacted):
        lines = _lines(query.removeprefix(before), first, "observation")
        if lines:
            yield _Found(None, "the first observation differs", lines)


def _step(data: Json, env: Environment) -> Iterator[_Found]:
    """Does a recorded action and compares what came back. An answer that was no action did nothing."""
    if data["action"] is None:
        return
    action = (Code if "code" in data["action"] else ToolCall).model_validate(data["action"])
    observation, _, _, _, info = env.step(action)
    again = Step(action=action, observation=observation, **info).model_dump(mode="json")
    differing = {name: _lines(data[name], again[name], name) for name in _COMPARED}
    lines = [line for part in differing.values() for line in part]
    if lines:
        names = ", ".join(name for name, part in differing.items() if part)
        doing = "a block of code" if isinstance(action, Code) else action.tool
        yield _Found(data["index"], f"step {data['index']}, {doing}: {names} differ", tuple(lines[:SHOWN]))


def _verdict(attempt: EndedAttempt, env: Environment) -> tuple[str, tuple[str, ...]]:
    """Whether the verdict is the same, and how it differs."""
    recorded = attempt.data("verdict")
    if recorded is None:
        return _NOT_COMPARED, ()
    lines = _lines(recorded, env.verify().model_dump(mode="json"), "verdict")
    return ("differs" if lines else "same"), lines


def _lines(old: Any, new: Any, where: str) -> tuple[str, ...]:
    return tuple(differences(old, new, where, wildcard=MASK))[:SHOWN]


class _Environments:
    """Environments by Gymnasium id, made when first needed and reset for each episode."""

    def __init__(self) -> None:
        self._made: dict[str, Environment] = {}

    def missing(self, env_id: str) -> str:
        """Why there is no such environment; empty where there is one."""
        try:
            world_of(env_id)
        except UserError:
            return f"environment {env_id} is not installed"
        return ""

    def get(self, env_id: str) -> Environment:
        if env_id not in self._made:
            self._made[env_id] = world_of(env_id).make()
        return self._made[env_id]

    def drop(self, env_id: str) -> None:
        """Closes one that failed."""
        if env := self._made.pop(env_id, None):
            env.close()

    def close(self) -> None:
        for env_id in list(self._made):
            self.drop(env_id)
