"""Every word of Rebind, as a type.

The names are those of the design: a Task is what an agent may see, a Seal is what it may not, a Record is the
visible half of a stored trajectory, a Support is what a condition delivers. Everything here is immutable and
serialises to JSON; nothing here imports another part of Rebind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SkipValidation

from rebind.canon import digest

BindingKind = Literal["entity", "user", "record", "location", "date", "parameter", "state"]
ShiftLevel = Literal["none", "small", "medium", "large"]
SHIFT_LEVELS: tuple[ShiftLevel, ...] = ("none", "small", "medium", "large")
LengthGroup = Literal["<5", "5-10", "11-20", "21-35", ">35"]
LENGTH_GROUPS: tuple[LengthGroup, ...] = ("<5", "5-10", "11-20", "21-35", ">35")
Outcome = Literal["valid", "invalid-agent", "invalid-infra"]
Purpose = Literal["actor", "writer", "ranker", "summary", "induction", "user", "judge"]
Part = Literal["customer", "judge"]
"""What a model may play in an environment."""


class Frozen(BaseModel):
    """An immutable value that rejects fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- tasks ----------------------------------------------------------------------------------------------------------


class Binding(Frozen):
    """A named, typed value that a task must ground (QCR, section 3.3)."""

    name: str
    kind: BindingKind
    value: JsonValue
    central: bool = False
    """True where changing this one value alone changes the task's central constraint (QCR, A.1: a medium shift)."""


class Budget(Frozen):
    """What one episode may spend; reaching any limit ends it as `invalid-agent` (over budget)."""

    steps: int = 40
    calls: int = 120
    tokens: int | None = None
    """Prompt plus completion tokens of the actor, billed view."""
    seconds: float | None = None
    """Wall time of the actor and its environment. What failed attempts and waiting for a provider take is not the
    agent's: as much again of it, and the episode is `invalid-infra`."""
    cost: float | None = Field(default=None, gt=0, exclude_if=lambda value: value is None)
    """US dollars of the actor's calls, by litellm's local table. Left out of the JSON where there is no limit, so that
    a Task without one keeps its key."""


class Task(Frozen):
    """What an agent may see of a task: the goal. `state` is the digest of the initial state, not the state."""

    env: str
    goal: str
    state: str
    budget: Budget = Budget()

    @cached_property
    def key(self) -> str:
        """Content hash (SHA-256 of the RFC 8785 form)."""
        return digest(self.model_dump(mode="json"))


class Milestone(Frozen):
    id: str
    text: str
    reached: bool


class Verdict(Frozen):
    """An environment's judgement of one episode. Never shown to the actor."""

    success: bool
    milestones: tuple[Milestone, ...] = ()
    failures: tuple[str, ...] = ()
    """Why it is not a success, in words: missing effects, wrong answer."""
    collateral: tuple[str, ...] = ()
    """Records changed that should not have changed."""

    @property
    def progress(self) -> float:
        """Share of milestones reached, in [0, 1]; 1 or 0 by success where a task has none."""
        if not self.milestones:
            return float(self.success)
        return sum(m.reached for m in self.milestones) / len(self.milestones)


class Seal(Frozen):
    """The sealed half of a Record or Target: what only the environment, the bank builder and the auditor may open."""

    canary: str
    """Random string that must never turn up in a prompt, an index text or a support."""
    env: str
    task_key: str
    family: str
    wording: int = 0
    """Which of the family's instruction wordings the goal uses."""
    world: dict[str, JsonValue] = Field(default_factory=dict)
    """Recipe of the initial state, as the environment wants it (for apps: {"seed": int})."""
    bindings: tuple[Binding, ...] = ()
    rollout: dict[str, JsonValue] | None = None
    """Records only: how the trajectory was made (`source`: "oracle" or "model", seed, detours, model, decoding)."""
    verdict: Verdict | None = None
    """Records only: what the verifier said of the stored trajectory."""
    source: str | None = None
    """Targets only: id of the Record it was made from."""
    level: ShiftLevel | None = None
    """Targets only."""
    changed: tuple[str, ...] = ()
    """Targets only: names of the bindings whose values differ from the source's."""

    def values(self) -> dict[str, JsonValue]:
        """Binding values by name."""
        return {b.name: b.value for b in self.bindings}


class Target(Frozen):
    """A Task made from a Record by a binding shift, with its seal beside it (stored in separate files)."""

    task: Task
    seal: Seal


# --- acting ---------------------------------------------------------------------------------------------------------


class ToolSpec(Frozen):
    """A tool as the actor is told of it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, JsonValue]


class ToolCall(Frozen):
    tool: str
    args: dict[str, JsonValue] = Field(default_factory=dict)


class Code(Frozen):
    """A block of Python that calls the same APIs as tool calls do."""

    code: str


Action = ToolCall | Code


class Call(Frozen):
    """One API call that reached the environment, from a tool call, a code block or a skill's inside."""

    tool: str
    args: dict[str, JsonValue]
    status: int
    """HTTP-like: 200 done, 401 not authorised, 404 not found, 422 rejected with the reason."""
    result: JsonValue

    @property
    def ok(self) -> bool:
        return self.status < 400


class Step(Frozen):
    """One turn: what the agent did and what came back. `observation` is what the actor reads next."""

    action: Action | None
    """None where the model's answer could not be parsed into an action."""
    observation: str
    calls: tuple[Call, ...] = ()
    error: str | None = None
    thought: str = ""


class Record(Frozen):
    """The visible half of a stored trajectory. Carries no environment label, task, family or verifier detail."""

    instruction: str
    descriptor: str
    """A line or two on the workflow, made from tool names and order alone; what the index and the ranker read."""
    first_observation: str
    steps: tuple[Step, ...]

    @cached_property
    def id(self) -> str:
        """Content hash, first 16 hex digits of the SHA-256."""
        return digest(self.model_dump(mode="json"))[:16]

    @property
    def effective_actions(self) -> int:
        """API calls that succeeded; what the length groups count (QCR, section 5.6)."""
        return sum(c.ok for s in self.steps for c in s.calls)


def length_group(effective_actions: int) -> LengthGroup:
    """The length group of a trajectory (QCR, Table 2; below 5 is a group of its own)."""
    for bound, name in ((5, "<5"), (11, "5-10"), (21, "11-20"), (36, "21-35")):
        if effective_actions < bound:
            return name  # type: ignore[return-value]  # the literals above are LengthGroups
    return ">35"


# --- model traffic --------------------------------------------------------------------------------------------------


class Decoding(Frozen):
    temperature: float = 0.2
    top_p: float = 0.95
    max_tokens: int = 4096
    seed: int | None = None


class Message(Frozen):
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[dict[str, JsonValue], ...] = ()
    """OpenAI wire form, assistant messages only."""
    tool_call_id: str | None = None


class Request(Frozen):
    """One question to a model. Everything that can change the answer is in here: its digest is the cache key."""

    model: str
    purpose: Purpose
    messages: tuple[Message, ...]
    decoding: Decoding
    schema_: SkipValidation[dict[str, JsonValue] | None] = None
    """JSON schema the answer must follow (`response_format`); large, and made anew for each turn: taken as it is."""
    tools: tuple[ToolSpec, ...] = ()
    """Native tool calling; empty where the model does not have it."""


class Usage(Frozen):
    """Token counts of one answered call. None where the provider did not say: missing is never 0."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    """Subset of `prompt`."""
    reasoning: int | None = None
    """Subset of `completion`."""


class Attempt(Frozen):
    """One HTTP attempt: the row an invoice could be checked against."""

    started: float
    """Unix seconds."""
    ms: float
    status: int | None = None
    error: str | None = None
    """None where it was answered; else the error's class and message, free of secrets."""
    usage: Usage = Usage()
    raw_usage: SkipValidation[dict[str, JsonValue] | None] = None
    """As the provider's JSON has it."""
    cost: float | None = None
    """US dollars from litellm's local table; None where the price is unknown."""


class Completion(Frozen):
    text: str
    tool_calls: tuple[dict[str, JsonValue], ...] = ()
    finish: str = "stop"
    usage: Usage = Usage()
    attempts: tuple[Attempt, ...] = ()
    replayed: bool = False
    """True where it came from the response cache: the logical usage stands, the bill is 0."""


class Model(Protocol):
    """The door to a model as conditions, rankers and actors see it. Implemented by `agents.llm`."""

    def complete(self, request: Request) -> Completion:
        """Answers, or raises `ProviderError` once retries are used up."""
        ...

    def count(self, request: Request) -> int:
        """Prompt tokens of a request, by the model's own tokenizer and template where it offers them."""
        ...


# --- support --------------------------------------------------------------------------------------------------------


class ReuseNote(Frozen):
    """The four QCR fields (QCR, section 4.2)."""

    workflow: str
    rebind: str
    applies: str
    verify: str


class Slot(Frozen):
    """A typed hole in a skill, with where its value comes from."""

    name: str
    type: Literal["enum", "int", "float", "date", "id", "path", "email", "str", "bool", "json"]
    provenance: Literal["query", "observation", "constant"]
    example: JsonValue = None
    """The source's value. Never shown to the actor for `query` slots."""
    description: str = ""


class SkillStep(Frozen):
    """One call of a skill. Argument values are constants, {"slot": name}, or {"from": step, "path": [...],
    "where": {field: slot name}} for a value read from an earlier result.

    In a path "*" is the list element that `where` finds (a reference may stand there instead of a slot name); with
    "first": true it is the first of several that fit; "as": "amount" writes cents as 45.00. {"template": [...]} joins
    texts and references; a `page` of {"all": "pages"} walks a listing to its end. With `each`, {"row": field} is a
    field of the row.
    """

    tool: str
    args: dict[str, JsonValue]
    each: str = Field(default="", exclude_if=lambda value: not value)
    """The slot of rows for each of which the call is made; empty for a single call."""


class Skill(Frozen):
    """A callable procedure abstracted from one verified trajectory."""

    name: str
    description: str
    slots: tuple[Slot, ...]
    steps: tuple[SkillStep, ...]
    record_id: str
    version: int = 1
    """Counts the traces of one procedure (see `memory.skill.identity`) in the order they were stored."""
    expects: tuple[JsonValue, ...] = Field(default=(), exclude_if=lambda value: not value)
    """Form of each step's result: names and types, no values."""


class Support(Frozen):
    """What a condition delivers to the actor."""

    condition: str
    text: str = ""
    turns: tuple[Step, ...] = ()
    """A worked trajectory that may be placed as chat turns rather than as text (`text` holds the same content)."""
    turns_goal: str = ""
    """The instruction that `turns` answered."""
    turns_first_observation: str = ""
    """What the agent saw before the first of `turns`."""
    note: ReuseNote | None = None
    skills: tuple[Skill, ...] = ()
    completions: tuple[Completion, ...] = ()
    """Writer calls made for it, for the token account (I_syn, O_syn)."""
    requests: tuple[Request, ...] = ()
    """What the writer was asked, for the audit."""
    flags: tuple[str, ...] = ()
    """E.g. "cut-at-field", "source-value:<name>", "no-record", "declined"."""


class Selection(Frozen):
    """The cached top-k of a target and the record the ranker chose; fixed before any condition runs."""

    target_key: str
    candidates: tuple[str, ...]
    """Record ids, best first (Z_t)."""
    scores: tuple[float, ...]
    chosen: str | None
    """A record id, or None where the bank is empty."""
    ranker: str
    """"llm", "top1", "random" or "oracle"."""
    fallback: str | None = None
    """Why the ranker's answer was not used, where it was not."""


@runtime_checkable
class Condition(Protocol):
    """A named way to turn a Selection (or the bank) into Support. One small file each; entry point group
    `rebind.conditions`."""

    name: str

    def support(self, ask: SupportAsk) -> Support: ...


class SupportAsk(Frozen):
    """All that a condition may read: one record, the query, the first observation, and the writer model."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    record: Record | None
    summary: str
    """The record's generic summary, written offline before any target existed; empty where there is none."""
    skills: tuple[Skill, ...]
    goal: str
    first_observation: str
    writer: Any
    """A `Model`. It answers requests and has no tools."""
    writer_name: str
    decoding: Decoding
    cap_tokens: int
    """Length cap of written support: min(1,024, 25 % of the record's tokens)."""


# --- environments ---------------------------------------------------------------------------------------------------


class Environment(Protocol):
    """A Gymnasium environment of Rebind: text in, text out, judged by `verify`."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; returns the first observation."""
        ...

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one Action (or its JSON text). `info` has `calls: tuple[Call, ...]` and `error: str | None`. The reward
        is always 0.0: the verdict is never shown to the actor. `terminated` once the agent declared the task done."""
        ...

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools to name in the prompt for the current task; more may be found through the environment itself."""
        ...

    def verify(self) -> Verdict: ...

    def close(self) -> None: ...


Progress = Callable[[str, int, int], None]
"""Told a word on what is being done, how many are done, and how many there are."""


class World(Protocol):
    """What the bank builder and the runner ask of an environment package (`envs.world(name)`)."""

    name: str
    """Short name in study files and commands: "apps"."""
    env_id: str
    """Gymnasium id, the `env` of its tasks and seals: "rebind/Apps-v0"."""

    def families(self) -> tuple[str, ...]: ...

    def make(self) -> Environment:
        """A fresh environment; reusable over many resets, used by one thread at a time."""
        ...

    def sample(self, family: str, seed: int) -> Target:
        """A source task of the family (no source, no level). Same seed, same bytes, in any process."""
        ...

    def shift(self, seal: Seal, level: ShiftLevel, seed: int) -> Target:
        """A target of the same family at that binding shift; raises `CannotShift` with a countable reason."""
        ...

    def oracle(self, seal: Seal) -> Callable[[Environment], Iterator[Action]]:
        """The family's own solution as a generator of actions: each is stepped before the next is asked for; what
        came back is sent into the generator as the list of Calls of that step."""
        ...


@runtime_checkable
class Checked(Protocol):
    """What a World may offer besides, for `rebind envs list` and `rebind envs check`."""

    needs: str
    """What must be there for it to run, in words."""

    def unavailable(self) -> str | None:
        """Why it cannot run on this machine now, and what to do; None where it can."""
        ...

    def check(self, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
        """Proves the tasks: shares of runs that passed, and `failures`, a list that is empty where all is well."""
        ...


@runtime_checkable
class Played(Protocol):
    """What a World offers besides where a model may play a part in its tasks."""

    part: Part

    def played_by(self, model: Model, name: str) -> World:
        """The world with that model in the part; `name` is the one that its requests carry."""
        ...

    def played(self, target: Target) -> Target:
        """A target as it is where somebody plays the part."""
        ...


@runtime_checkable
class Placed(Protocol):
    """What a World may offer besides, for engines that place episodes on machines."""

    resources: Mapping[str, float]
    """What one episode takes up: "CPU", and names of the world's own for what not every machine has, such as
    "browser". One CPU where a world does not say."""


@runtime_checkable
class Installable(Protocol):
    """What a World offers besides where it is another package, for `rebind envs install`."""

    def install(self) -> str:
        """Makes what it runs in; says where, and what is still to be done."""
        ...


# --- the ledger's vocabulary ----------------------------------------------------------------------------------------

EventKind = Literal[
    "plan",  # once per study: name, lock (digest), conditions, seeds, model, decoding, budget, placement, cells,
    #          simulated
    "target",  # once per target: target (key), task, seal, and `source`: the source record's seal
    "record",  # once per record that is any target's candidate: record (id), content (the Record: what supports are
    #            checked against and cases are shown from), seal, instruction, index_text, effective_actions, tokens
    "retrieval",  # per target: target, query (the text embedded), candidates, scores, encoder
    "selection",  # per target: the Selection, with `request` and `completion` where a model ranked
    "start",  # an attempt at a cell begins: cell, attempt
    "support",  # the Support, with the writer's requests and completions
    "call",  # one model call of the actor: index, kept, messages, tools, schema, text, tool_calls, finish, usage,
    #          mem_tokens, attempts, replayed, model, decoding (of the Request). `kept` says how many messages of the
    #          previous call's prompt stand; only the messages after those are stored
    "skill",  # what became of a skill that was called: what ("slots", "precondition", "validation", "fallback"), skill,
    #           record, version, and what it is about; before the step it belongs to
    "step",  # one Step, with its index
    "verdict",  # the Verdict
    "episode",  # the Episode: ends an attempt; fsynced
    "note",  # a repair on open, an abandoned attempt, a resume, a limit of concurrency that changed, a stop; what a
    #          model was asked that plays a part in an environment (part, model, request, usage, attempts, replayed)
]


class Redacted(str):
    """A value that was taken out of a finished ledger. Where a text is expected it reads "[redacted]"; what asks how
    long it is, or what is in it, gets a TypeError, for nobody knows."""

    __slots__ = ("digest",)
    digest: str
    """Salted SHA-256 of the value (hex), as the hash of its event has it."""

    def __new__(cls, digest: str) -> Redacted:
        made = super().__new__(cls, "[redacted]")
        made.digest = digest
        return made

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        raise TypeError("redacted")

    def __iter__(self) -> Iterator[str]:
        raise TypeError("redacted")

    def __contains__(self, part: object) -> bool:
        raise TypeError("redacted")


class Event(NamedTuple):
    """One line of the ledger. `hash` is the SHA-256 of the RFC 8785 form of `at`, `attempt`, `cell`, `kind`, `n`,
    `prev` and `data`, each field of which is replaced by a salted digest (`eval.ledger.commitments`); `prev` is the
    hash of the line before."""

    n: int
    at: float
    """Unix seconds."""
    kind: EventKind
    cell: str | None
    """`Cell.id` of the episode it belongs to."""
    attempt: int | None
    data: dict[str, Any]
    """JSON; a value that was taken out is a `Redacted`."""
    prev: str
    hash: str
    salt: str | list[str]
    """Hex: the seed of the salts; in a redacted event, the salts of the values that are left."""
    redacted: list[str]
    """JSON pointers (RFC 6901) of what was taken out of `data`."""


class Cell(Frozen):
    """One episode to run: target, condition and seed."""

    target: str
    """Task key."""
    condition: str
    seed: int

    @property
    def id(self) -> str:
        return f"{self.target[:16]}/{self.condition}/{self.seed}"


class TokenAccount(Frozen):
    """Tokens of one episode (design: Tokens). All components are disjoint; None where a count is missing."""

    i_base: int | None
    i_mem: int | None
    i_syn: int | None
    o_syn: int | None
    o_act: int | None
    once: int | None
    """Counted-once total: every token counted the first time it is sent; see `once_dropped`."""
    once_dropped: bool = False
    """True where the history shrank between two calls (`new_j` < 0)."""
    cached: int | None = None
    """Prompt tokens served from a prefix cache; a subset, never added."""
    wasted: int = 0
    """Tokens of failed attempts."""
    cost: float | None = None

    @property
    def online(self) -> int | None:
        """C_online, billed view: the sum of the five components."""
        parts = (self.i_base, self.i_mem, self.i_syn, self.o_syn, self.o_act)
        return None if any(p is None for p in parts) else sum(p for p in parts if p is not None)


class Episode(Frozen):
    """The end of one attempt at a cell, as the ledger keeps it."""

    cell: Cell
    attempt: int
    outcome: Outcome
    ending: str
    """"done", "over-steps", "over-calls", "over-tokens", "over-time", "over-cost", "unparseable", "context", or the
    error's name."""
    success: bool | None
    """None unless `outcome` is "valid"; an infrastructure failure is never a 0."""
    milestone: float | None
    steps: int
    api_calls: int
    tokens: TokenAccount
    seconds: float = 0.0


Messages = Sequence[Message]
Values = Mapping[str, JsonValue]
