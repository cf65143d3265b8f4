"""Which uses of a value are stale, and which target values count as bound."""

from __future__ import annotations

import pytest
from support.ledgers import bound, call, program

from rebind.eval.bindings import changed_values
from rebind.eval.lines import step_row
from rebind.eval.rebinding import Watch
from rebind.types import Binding, Call, Step

SOURCE = {
    "person": "Ben Moss",
    "amount": Binding(name="amount", kind="parameter", value=4500),
    "due": Binding(name="due", kind="date", value="2025-03-05"),
    "stars": Binding(name="stars", kind="parameter", value=4),
    "priority": Binding(name="priority", kind="parameter", value="high"),
    "urgent": Binding(name="urgent", kind="parameter", value=True),
}
TARGET = {
    "person": "Anna Keller",
    "amount": Binding(name="amount", kind="parameter", value=9900),
    "due": Binding(name="due", kind="date", value="2025-09-17"),
    "stars": Binding(name="stars", kind="parameter", value=2),
    "priority": Binding(name="priority", kind="parameter", value="low"),
    "urgent": Binding(name="urgent", kind="parameter", value=False),
}


def follow(*steps: Step, goal: str = "Pay her.", source=SOURCE, target=TARGET) -> Watch:
    watch = Watch(changed_values(bound(source), bound(target)))
    watch.show(goal, "query")
    for index, step in enumerate(steps):
        watch.step(step_row({"index": index, **step.model_dump(mode="json")}))
    return watch


def names(watch: Watch) -> list[str]:
    return [use.binding for use in watch.stale]


def test_a_source_value_in_an_argument_is_stale() -> None:
    watch = follow(call("contacts_search", query="Ben Moss"), call("bank_transfer", amount=4500))
    assert [(u.step, u.binding, u.value, u.where) for u in watch.stale] == [
        (0, "person", "Ben Moss", "query"),
        (1, "amount", "4500", "amount"),
    ]


def test_a_source_value_within_a_text_and_in_other_case_is_stale() -> None:
    assert names(follow(call("mail_send", body="Dear BEN MOSS, thanks."))) == ["person"]


def test_a_longer_word_that_contains_the_value_is_not() -> None:
    assert names(follow(call("mail_send", body="Reuben Mosses and 145002"))) == []


def test_a_date_is_the_same_value_in_other_spellings_and_within_a_moment() -> None:
    assert names(follow(call("calendar_create", start_at="2025-03-05T14:00"))) == ["due"]
    assert names(follow(call("mail_send", body="by 5 March 2025"))) == ["due"]


@pytest.mark.parametrize("goal", ["Ask Ben Moss who is owed.", "The 45.00 dollars of 5 March."])
def test_what_the_query_shows_is_never_stale(goal: str) -> None:
    watch = follow(call("x", a="Ben Moss", amount=4500, due="2025-03-05"), goal=goal)
    assert not set(names(watch)) & ({"person"} if "Ben" in goal else {"amount", "due"})
    assert names(watch)


def test_what_an_earlier_observation_shows_is_not_stale_but_a_use_before_it_is() -> None:
    seen = call("chat_messages", '{"from": "Ben Moss"}')
    use = call("mail_send", body="Ben Moss")
    assert names(follow(seen, use)) == []
    assert names(follow(use, seen)) == ["person"]


def test_an_observation_counts_only_after_its_own_action() -> None:
    """An error message that repeats a copied value does not excuse the copy."""
    assert names(follow(call("contacts_search", "no contact named Ben Moss", query="Ben Moss"))) == ["person"]


def test_a_value_that_the_target_also_has_is_not_stale() -> None:
    target = {"sender": "Ben Moss", "person": "Anna Keller"}
    source = {"sender": "Anna Keller", "person": "Ben Moss"}
    watch = follow(call("mail_send", to="Ben Moss", cc="Anna Keller"), source=source, target=target)
    assert not watch.checkable
    assert watch.stale == []


def test_a_spelling_that_both_values_share_is_not_telling() -> None:
    """Two moments of one day: the day alone tells nothing, the time does."""
    source = {"at": Binding(name="at", kind="date", value="2025-03-05T14:00")}
    target = {"at": Binding(name="at", kind="date", value="2025-03-05T16:00")}
    assert names(follow(call("calendar_search", since="2025-03-05"), source=source, target=target)) == []
    assert names(follow(call("calendar_create", start_at="2025-03-05T14:00"), source=source, target=target)) == ["at"]


def test_a_small_number_counts_only_where_its_argument_is_named_like_the_binding() -> None:
    assert names(follow(call("mail_search", page=4))) == []
    assert names(follow(call("shop_write_review", stars=4))) == ["stars"]


def test_a_common_word_counts_only_as_a_whole_argument() -> None:
    assert names(follow(call("mail_send", body="It is high time."))) == []
    assert names(follow(call("todo_create", priority="high"))) == ["priority"]


def test_truth_values_are_not_checkable() -> None:
    watch = follow(
        call("mail_star", urgent=True), source={"urgent": SOURCE["urgent"]}, target={"urgent": TARGET["urgent"]}
    )
    assert not watch.checkable
    assert watch.rebound is None


def test_literals_in_code_are_uses_and_comments_are_not() -> None:
    assert names(follow(program("# not Ben Moss\nx = 1"))) == []
    assert names(follow(program("contacts_search(query='Ben Moss', stars=4)"))) == ["person", "stars"]
    assert names(follow(program("contacts_search(query='Ben Moss'"))) == ["person"]  # does not parse: read as text


def test_within_a_program_the_result_of_a_call_is_evidence_for_the_next() -> None:
    looked = Call(tool="chat_messages", args={}, status=200, result={"from": "Ben Moss"})
    used = Call(tool="mail_send", args={"to": "Ben Moss"}, status=200, result="ok")
    assert names(follow(program("go()", calls=[looked, used]))) == []
    assert names(follow(program("go()", calls=[used, looked]))) == ["person"]


def test_an_answer_is_a_use() -> None:
    assert names(follow(call("supervisor_complete_task", answer="Ben Moss"))) == ["person"]


def test_a_step_without_an_action_uses_nothing() -> None:
    assert follow(Step(action=None, observation="That was no action.")).stale == []


def test_correct_rebinding_needs_every_nameable_value_and_no_stale_one() -> None:
    right = (
        call("contacts_search", query="Keller"),
        call("bank_transfer", amount=9900),
        call("calendar_create", start_at="2025-09-17T09:00"),
    )
    assert follow(*right).rebound is True
    assert follow(*right[:2]).rebound is False
    assert follow(*right[:2]).bound_share == pytest.approx(2 / 3)
    assert follow(*right, call("mail_send", body="Ben Moss")).rebound is False


def test_a_part_of_the_name_that_both_people_share_binds_nothing() -> None:
    source, target = {"person": "Anna Moss"}, {"person": "Anna Keller"}
    assert follow(call("contacts_search", query="Anna"), source=source, target=target).rebound is False
    assert follow(call("contacts_search", query="Keller"), source=source, target=target).rebound is True


def test_an_identifier_shown_beside_the_value_stands_for_it() -> None:
    source, target = {"account": "Savings"}, {"account": "Household account"}
    items = {"items": [{"account_id": 3, "name": "Household account"}, {"account_id": 4, "name": "Joint account"}]}
    listed = Step(
        action=call("bank_list_accounts").action,
        observation=str(items),
        calls=(Call(tool="bank_list_accounts", args={}, status=200, result=items),),
    )
    assert follow(listed, call("bank_transfer", from_account_id=3), source=source, target=target).rebound is True
    assert follow(listed, call("bank_transfer", from_account_id=4), source=source, target=target).rebound is False
    assert follow(listed, call("bank_transfer", page=3), source=source, target=target).rebound is False


def test_states_are_watched_for_stale_use_but_need_not_be_named() -> None:
    source = {"budget": Binding(name="budget", kind="state", value=230000)}
    target = {"budget": Binding(name="budget", kind="state", value=415000)}
    watch = follow(call("supervisor_complete_task", answer="230000"), source=source, target=target)
    assert names(watch) == ["budget"]
    assert watch.rebound is None


def test_the_first_place_that_shows_a_target_value_is_kept_with_its_surroundings() -> None:
    watch = follow(call("files_read", "Invoice 17 for Anna Keller, due on 17 September 2025."), goal="Pay the invoice.")
    assert watch.found["person"].where == "step 1"
    assert "Invoice 17 for Anna Keller" in watch.found["person"].snippet
    assert watch.found["due"].where == "step 1"
    assert "amount" not in watch.found
