"""The everyday families from outside their oracles: the plausible wrong record is damage, other right ways are fine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import JsonValue

from rebind.envs.apps.families.paid_in_month import PAID
from rebind.envs.apps.families.view import View
from rebind.envs.apps.replay import player
from rebind.envs.apps.state import snapshots
from rebind.envs.apps.world import sample, setup
from rebind.types import Seal, ToolCall, Verdict

SEEDS = (0, 1, 2)
each_seed = pytest.mark.parametrize("seed", SEEDS)

TRAPS = {
    "mail": ("star-and-label-newest-mail", "SELECT id FROM mails WHERE subject = 'Greetings from ' || :sender"),
    "list_id": ("add-dated-task", "SELECT id FROM todo_lists WHERE name = :list || ' (old)'"),
    "product_id": (
        "put-brand-product-in-cart",
        "SELECT id FROM products WHERE name = :product AND brand != :brand AND id NOT IN "
        "(SELECT product_id FROM cart_items)",
    ),
    "chat": (
        "message-the-right-namesake",
        "SELECT chat_id FROM chat_members m JOIN contacts c ON c.id = contact_id JOIN chats ON chats.id = chat_id "
        "WHERE kind = 'direct' AND chat_id != :chat AND :recipient LIKE first_name || ' from %'",
    ),
    "contact_id": (
        "change-phone-number",
        "SELECT id FROM contacts WHERE id != :contact_id AND :contact LIKE first_name || ' in %'",
    ),
    "note_id": ("append-line-to-note", "SELECT id FROM notes WHERE title = :note || ' (old)'"),
    "event": (
        "move-appointment-and-place-it",
        "SELECT id FROM events WHERE title = :appointment AND NOT cancelled AND id != :event",
    ),
    "request": (
        "answer-two-payment-requests",
        "SELECT id FROM payment_requests WHERE reason = :reason AND direction = 'incoming' AND status = 'open' AND "
        "id != :request",
    ),
    "songs": (
        "playlist-of-most-played",
        "SELECT song_id FROM playlist_songs JOIN songs ON id = song_id WHERE playlist_id = :known_id AND "
        "genre = :genre",
    ),
    "tasks": (
        "tidy-task-list-by-note",
        "SELECT t.id FROM todos t JOIN todo_lists l ON l.id = list_id WHERE name = :event || ' (last year)'",
    ),
}
"""By the looked-up value: the family, and a query for a wrong but plausible one."""


def view(seal: Seal) -> View:
    """The task's initial state."""
    db = snapshots().restore(int(str(seal.world["seed"])))
    setup(db, seal)
    return View(db)


def named(seal: Seal, sql: str) -> dict[str, Any]:
    return {name: value for name, value in seal.values().items() if f":{name}" in sql}


def swapped(actions: Sequence[ToolCall], old: JsonValue, new: JsonValue) -> list[ToolCall]:
    """The actions, one argument value exchanged for another wherever it stands."""
    return [
        ToolCall(tool=a.tool, args={name: new if value == old else value for name, value in a.args.items()})
        for a in actions
    ]


def after(seal: Seal, change: Callable[[list[ToolCall]], list[ToolCall]]) -> Verdict:
    """The verdict on the oracle's actions, changed."""
    return player().act(seal, change(list(player().solve(seal).actions))).verdict


@each_seed
@pytest.mark.parametrize("binding", TRAPS)
def test_the_plausible_wrong_record_is_there_and_taking_it_is_damage(binding: str, seed: int) -> None:
    family, sql = TRAPS[binding]
    seal = sample(f"apps/{family}", seed).seal
    decoy = view(seal).db.execute(sql, named(seal, sql)).fetchone()[0]
    right = seal.values()[binding]
    first = right[0] if isinstance(right, list) else right
    solved = player().solve(seal)
    verdict = player().act(seal, swapped(solved.actions, first, decoy)).verdict
    assert not verdict.success
    assert verdict.progress < 1
    assert verdict.collateral


@each_seed
def test_the_sum_without_the_refunds_is_right_in_dollars_too_and_any_other_is_wrong(seed: int) -> None:
    seal = sample("apps/paid-to-person-in-month-question", seed).seal
    values, state = seal.values(), view(seal)
    where = (values["account_id"], values["month"])
    total = state.value(PAID, *where, values["contact"])
    less_refunds = state.value(PAID.replace(" AND amount < 0", ""), *where, values["contact"])
    all_payees = state.value(PAID.replace("contact_id = ?", "name LIKE ? || ' (%'"), *where, values["person"])
    actions = player().solve(seal).actions

    def accepted(answer: str) -> bool:
        last = ToolCall(tool=actions[-1].tool, args={"answer": answer})
        return player().act(seal, [*actions[:-1], last]).verdict.success

    assert accepted(f"${total / 100:,.2f}")
    assert accepted(f"{total} cents")
    assert not accepted(str(less_refunds))
    assert not accepted(str(all_payees))


def split(actions: list[ToolCall], tool: str, name: str) -> list[ToolCall]:
    """The actions, every call of the tool that gives `name` made in two: without it, and with it alone."""
    made = []
    for a in actions:
        if a.tool == tool and name in a.args:
            ids = {n: v for n, v in a.args.items() if n == "access_token" or n in ("contact_id", "todo_id")}
            made.append(ToolCall(tool=tool, args={n: v for n, v in a.args.items() if n != name}))
            made.append(ToolCall(tool=tool, args={**ids, name: a.args[name]}))
        else:
            made.append(a)
    return made


@each_seed
@pytest.mark.parametrize(
    ("family", "tool", "argument"),
    [
        ("change-phone-number", "contacts_update", "comment"),
        ("tidy-task-list-by-note", "todo_update", "priority"),
        ("tidy-task-list-by-note", "todo_update", "due_on"),
    ],
)
def test_one_change_may_be_made_in_two_calls(family: str, tool: str, argument: str, seed: int) -> None:
    verdict = after(sample(f"apps/{family}", seed).seal, lambda actions: split(actions, tool, argument))
    assert verdict.success, (verdict.failures, verdict.collateral)


@each_seed
def test_a_line_may_be_added_by_writing_the_whole_note(seed: int) -> None:
    seal = sample("apps/append-line-to-note", seed).seal
    body = view(seal).value("SELECT body FROM notes WHERE id = ?", seal.values()["note_id"])

    def rewrite(action: ToolCall, keep: str) -> ToolCall:
        if action.tool != "notes_append":
            return action
        given = {n: v for n, v in action.args.items() if n != "text"}
        return ToolCall(tool="notes_update", args={**given, "body": f"{keep}{action.args['text']}"})

    assert after(seal, lambda actions: [rewrite(a, f"{body}\n") for a in actions]).success
    assert not after(seal, lambda actions: [rewrite(a, "") for a in actions]).success


@each_seed
def test_an_appointment_may_get_its_place_first_but_not_another_time(seed: int) -> None:
    seal = sample("apps/move-appointment-and-place-it", seed).seal
    assert after(seal, lambda actions: [*actions[:-3], actions[-2], actions[-3], actions[-1]]).success
    begins = f"{seal.values()['new_day']}T{seal.values()['begins']}"
    earlier = f"{seal.values()['new_day']}T07:00"
    assert not after(seal, lambda actions: swapped(actions, begins, earlier)).success


@each_seed
def test_songs_in_another_order_are_not_the_playlist_asked_for(seed: int) -> None:
    seal = sample("apps/playlist-of-most-played", seed).seal
    verdict = after(seal, lambda actions: [*actions[:-3], actions[-2], actions[-3], actions[-1]])
    assert not verdict.success
    assert not next(m.reached for m in verdict.milestones if m.id == "whole")
