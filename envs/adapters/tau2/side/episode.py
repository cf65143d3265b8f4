"""One task of τ² at a time: its tools, its databases, its verdict, by the package's own functions."""

from __future__ import annotations

from typing import Any

from tau2.data_model.message import ToolCall
from tau2.data_model.tasks import RewardType, Task
from tau2.domains.airline import environment as airline
from tau2.domains.airline.data_model import FlightDB
from tau2.domains.airline.utils import AIRLINE_DB_PATH
from tau2.domains.retail import environment as retail
from tau2.domains.retail.data_model import RetailDB
from tau2.domains.retail.utils import RETAIL_DB_PATH
from tau2.domains.telecom import environment as telecom
from tau2.domains.telecom.data_model import TelecomDB
from tau2.domains.telecom.user_data_model import TelecomUserDB
from tau2.domains.telecom.utils import TELECOM_DB_PATH, TELECOM_USER_DB_PATH
from tau2.environment.toolkit import ToolType
from tau2.utils import DATA_DIR, load_file

from .tables import Table, rows

_DOMAINS = {
    "airline": (airline, {"db": (FlightDB, AIRLINE_DB_PATH)}),
    "retail": (retail, {"db": (RetailDB, RETAIL_DB_PATH)}),
    "telecom": (telecom, {"db": (TelecomDB, TELECOM_DB_PATH), "user_db": (TelecomUserDB, TELECOM_USER_DB_PATH)}),
}


class Episodes:
    """Starts tasks, makes calls and judges; one task is open at a time."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._said: list[str] = []
        self._calls: list[ToolCall] = []

    def start(self, domain: str, task: str, solo: bool = False) -> dict[str, Any]:
        """Opens a task; returns `policy`, `tools` (OpenAI's form) and `guidelines` (for who plays the customer)."""
        if domain not in self._tasks:
            path = DATA_DIR / "tau2" / "domains" / domain / "tasks.json"
            self._tasks[domain] = {raw["id"]: raw for raw in load_file(path)}
        self._domain, self._solo = domain, solo
        self._task = Task.model_validate(self._tasks[domain][task])
        self._environment = self._at_start(solo)
        self._said, self._calls = [], []
        tools = self._environment.get_tools()
        if solo and self._environment.user_tools is not None:
            tools += self._environment.get_user_tools()
        guidelines = (DATA_DIR / "tau2" / "user_simulator" / "simulation_guidelines.md").read_text(encoding="utf-8")
        return {
            "policy": self._environment.get_policy(),
            "tools": [tool.openai_schema["function"] for tool in tools],
            "guidelines": guidelines,
        }

    def call(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """One tool call of the agent: `text` as the agent reads it, and `status`."""
        known = self._environment.tools.has_tool(tool) or (
            self._solo and self._environment.user_tools is not None and self._environment.user_tools.has_tool(tool)
        )
        if not known:
            return {"status": 404, "text": f"Error: no tool {tool!r}"}
        if tool == "calculate" and "**" in str(args.get("expression")):  # a power can take hours
            return {"status": 422, "text": "Error: Invalid characters in expression"}
        call = ToolCall(id=str(len(self._calls)), name=tool, arguments=args)
        answer = self._environment.get_response(call)
        if not answer.error:
            self._calls.append(call)
        return {"status": 422 if answer.error else 200, "text": answer.content}

    def say(self, text: str) -> None:
        """What the agent tells the customer."""
        self._said.append(text)

    def verify(self) -> dict[str, Any]:
        """The verdict by the task's `reward_basis`: each check's name with whether it holds."""
        criteria, final, gold = self._task.evaluation_criteria, self._environment, self._at_gold()
        checks: dict[str, bool] = {}
        missing = [info for info in criteria.communicate_info or [] if not self._told(info)]
        asserted = [final.run_env_assertion(a, raise_assertion_error=False) for a in criteria.env_assertions or []]
        done = [(action, self._done(action)) for action in criteria.actions or []]
        for basis in criteria.reward_basis:
            if basis == RewardType.DB:
                hashes = [(e.get_db_hash(), e.get_user_db_hash()) for e in (final, gold)]
                checks["DB"] = hashes[0] == hashes[1]
            elif basis == RewardType.COMMUNICATE:
                checks["COMMUNICATE"] = not missing
            elif basis == RewardType.ENV_ASSERTION:
                checks["ENV_ASSERTION"] = all(asserted)
            elif basis == RewardType.ACTION:
                checks["ACTION"] = all(match for _, match in done)
            else:
                raise ValueError(f"task {self._task.id} is judged by {basis.value}, which needs a model as judge")
        return {
            "checks": checks,
            "milestones": [[action.get_func_format(), match] for action, match in done if self._writes(action.name)]
            + [[f"tells {info}", info not in missing] for info in criteria.communicate_info or []],
            "missing": missing,
            "collateral": self._collateral(gold),
        }

    def play(self, domain: str, task: str, solo: bool, calls: list[dict[str, Any]], said: list[str]) -> dict[str, Any]:
        """A whole episode at once: the verdict on these calls and words."""
        self.start(domain, task, solo)
        refused = [answer["text"] for answer in (self.call(**call) for call in calls) if answer["status"] != 200]
        for text in said:
            self.say(text)
        return {**self.verify(), "refused": refused}

    def _at_start(self, solo: bool) -> Any:
        """The task's initial state, on fresh databases."""
        module, files = _DOMAINS[self._domain]
        databases = {name: self._database(f"{self._domain}/{name}", *file) for name, file in files.items()}
        environment = module.get_environment(**databases, solo_mode=solo)
        first = self._task.initial_state
        environment.set_state(
            initialization_data=first.initialization_data if first else None,
            initialization_actions=first.initialization_actions if first else None,
            message_history=(first.message_history or []) if first else [],
        )
        return environment

    def _database(self, key: str, model: Any, path: str) -> Any:
        if key not in self._loaded:
            self._loaded[key] = model.load(path)
        base = self._loaded[key]
        if self._domain == "telecom":
            return base.model_copy(deep=True)
        return base.model_copy(update={name: Table(getattr(base, name)) for name in type(base).model_fields})

    def _at_gold(self) -> Any:
        """The state after the task's own actions; one that is refused is passed over, as τ² does."""
        environment = self._at_start(False)
        for action in self._task.evaluation_criteria.actions or []:
            try:
                environment.make_tool_call(action.name, requestor=action.requestor, **action.arguments)
            except Exception:  # the package's evaluator goes on as well
                continue
        return environment

    def _told(self, info: str) -> bool:
        return any(info.lower() in text.lower().replace(",", "") for text in self._said)

    def _done(self, action: Any) -> bool:
        return any(action.compare_with_tool_call(call) for call in self._calls)

    def _writes(self, tool: str) -> bool:
        for kit in (self._environment.tools, self._environment.user_tools):
            if kit is not None and kit.has_tool(tool):
                return bool(kit.tool_type(tool) == ToolType.WRITE)
        return False

    def _collateral(self, gold: Any) -> list[str]:
        """Rows that changed and are as they were in the gold state."""
        first, last, wanted = (rows(e.tools.db) for e in (self._at_start(False), self._environment, gold))
        return sorted(key for key in last if last[key] != first.get(key) and wanted.get(key) == first.get(key))
