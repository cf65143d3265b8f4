"""What engines are made of, without a cluster: the local one, the gate, the relay, and where an episode has room."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rebind.agents.llm import LLM
from rebind.banks.store import Bank
from rebind.errors import LedgerError, LockMismatch, StudyError, UserError
from rebind.eval.demo import DEMO_STUDY, demo_study
from rebind.eval.engines import open_engine
from rebind.eval.engines.gate import Gate
from rebind.eval.engines.placement import check, needs, options
from rebind.eval.engines.relay import Batch, Relay
from rebind.eval.episode import Bench
from rebind.eval.ledger import Ledger, read_events
from rebind.eval.lock import check_installed, installed
from rebind.eval.models import open_models
from rebind.eval.plan import make_plan
from rebind.eval.study import Study, load_study
from rebind.types import Cell, Selection


def _study(model: str = "simulated/oracle", **run: Any) -> Study:
    study = demo_study(model)
    return study.model_copy(
        update={
            "run": study.run.model_copy(update={"cache": False, **run}),
            "targets": study.targets.model_copy(update={"limit": 1}),
        }
    )


def test_the_local_engine_plays_an_attempt_here_and_closes_the_environments_it_kept_warm(tmp_path: Path) -> None:
    """The episode it gives is the one in the ledger."""
    plan = make_plan(_study())
    key = plan.targets[0].task.key
    nothing = Selection(target_key=key, candidates=(), scores=(), chosen=None, ranker="top1")
    with open_models(plan) as models, Ledger.open(tmp_path) as ledger:
        bench = Bench(plan, Bank.open(plan.study.bank.path), ledger, models, {key: plan.targets[0]}, {key: nothing})
        with open_engine(plan.study) as engine:
            engine.begin(bench, open_models)
            episode = engine.attempt(Cell(target=key, condition="none", seed=0), 3)
            assert engine.limited() == {}
            (warm,) = bench.idle.values()
            assert warm.qsize() == 1
        assert warm.empty()
    (recorded,) = (e.data for e in read_events(tmp_path) if e.kind == "episode")
    assert (episode.attempt, episode.success) == (3, True)
    assert recorded == episode.model_dump(mode="json")


def test_a_study_names_its_engine_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    """The local one where none is named."""
    text = DEMO_STUDY.read_text(encoding="utf-8")
    assert load_study(DEMO_STUDY).run.engine == "local"
    (tmp_path / "study.toml").write_text(text.replace("[run]", '[run]\nengine = "slurm"'), encoding="utf-8")
    with pytest.raises(StudyError, match=r"run\.engine.*'local' or 'ray'"):
        load_study(tmp_path / "study.toml")


def test_ray_where_it_is_not_installed_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything is run or written."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'rebind\[ray\]'"), open_engine(_study(engine="ray")):
        pass


def test_a_cluster_that_does_not_answer_is_named_with_the_command_that_starts_one() -> None:
    """Nobody listens at the port."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'rebind[ray]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (
        pytest.raises(UserError, match=rf"no Ray cluster answers at {address}.*ray start --head"),
        open_engine(_study(engine="ray", ray_address=address)),
    ):
        pass


def test_the_embedded_model_is_refused_on_a_cluster_for_only_its_own_process_can_reach_it() -> None:
    """The remedy is a server for all nodes."""
    with pytest.raises(UserError, match=r"model\.api_base"), open_engine(_study("default", engine="ray")):
        pass


def test_code_that_differs_from_the_runs_is_refused_on_a_node_and_named() -> None:
    """A node with another version would run other episodes."""
    check_installed(installed())
    with pytest.raises(LockMismatch, match=r"packages\.numpy: '0\.1' → '"):
        check_installed({**installed(), "packages": {**installed()["packages"], "numpy": "0.1"}})  # type: ignore[dict-item]


def test_an_environment_that_no_node_has_room_for_is_refused_with_the_command_that_makes_room() -> None:
    """Its episodes would wait for ever; where a node has room it is not refused."""
    with pytest.raises(UserError, match=r"rebind/Sites-v0, which takes .*'browser': 1.*--resources='{\"browser\": 4}'"):
        check(["rebind/Apps-v0", "rebind/Sites-v0"], [{"CPU": 4.0}, {"browser": 4.0}])
    check(["rebind/Apps-v0", "rebind/Sites-v0"], [{"CPU": 4.0}, {"CPU": 1.0, "browser": 4.0}])
    wanted = needs("rebind/Sites-v0")
    assert options(wanted) == {"num_cpus": wanted["CPU"], "resources": {"browser": 1}}


def test_the_gate_lets_no_more_through_than_its_limit_and_a_lost_holder_gives_back_what_it_had() -> None:
    """Also what the lost one still waited for."""
    gate, entered = Gate(), threading.Event()

    def wait(holder: str) -> None:
        gate.enter("p", 1, holder)
        entered.set()

    gate.enter("p", 1, "lost")
    threading.Thread(target=wait, args=("lost",), daemon=True).start()
    assert not entered.wait(0.1)
    gate.lost("lost")
    assert entered.wait(5), "the slot of the lost one is free again"
    ticket, _, limit = gate.enter("p", 1, "other")  # free once more: the lost one does not keep it
    assert limit == 1
    gate.leave(ticket)
    gate.leave(ticket)


def test_the_gate_slows_all_processes_down_for_what_one_of_them_was_told() -> None:
    """One cut for the requests of one burst; the changes of the limit are told once."""
    gate = Gate()
    (_, first, _), (_, second, _) = gate.enter("p", 8, "a"), gate.enter("p", 8, "b")
    assert gate.cut("p", first, "429") == (4, True)
    assert gate.cut("p", second, "429") == (4, False)
    assert gate.limited() == {"p": 4}
    for _ in range(40):
        gate.grow("p")
    assert gate.limited()["p"] > 4


def test_the_gate_tells_episodes_that_wait_for_a_place_not_to_begin_once_a_run_stops() -> None:
    """Those that began may still ask their models."""
    gate = Gate()
    assert gate.may_begin()
    gate.begin_no_more()
    assert not gate.may_begin()
    assert gate.enter("p", 1, "under way")[2] == 1


def test_what_other_processes_spent_is_spent_at_the_runs_door() -> None:
    """So that a limit of cost counts it."""
    door = LLM()
    door.charge(0.25, 1)
    door.charge(0.5, 0)
    assert (door.spent, door.unpriced) == (0.75, 1)


def test_a_relay_hands_events_on_in_order_without_the_secrets_of_its_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a ledger holds of them is what it would hold had they been appended to it; a commit goes with them."""
    monkeypatch.setenv("NODE_API_KEY", "very-private-9917")
    relay, cell = Relay(), Cell(target="t" * 64, condition="none", seed=0)

    def work() -> None:
        for n in range(50):
            relay.append("note", {"n": n, "ratio": n / 3, "text": "é very-private-9917"}, cell, 2)
        relay.commit()
        relay.end()

    threading.Thread(target=work).start()
    batches = list(relay.batches())
    monkeypatch.delenv("NODE_API_KEY")
    with Ledger.open(tmp_path) as ledger:
        for batch in batches:
            batch.write(ledger)
        assert ledger.fsyncs >= 1
    events = list(read_events(tmp_path))
    assert [(e.data["n"], e.cell, e.attempt) for e in events] == [(n, cell.id, 2) for n in range(50)]
    assert events[7].data == {"n": 7, "ratio": 7 / 3, "text": "é [secret]"}


def test_a_relay_refuses_what_no_ledger_takes_where_it_is_appended() -> None:
    """So that the episode ends as it would beside the ledger."""
    with pytest.raises(LedgerError, match="is no kind of event"):
        Relay().append("gossip", {})  # type: ignore[arg-type]
    assert Batch().events == ()
