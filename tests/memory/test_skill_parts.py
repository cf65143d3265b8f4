"""The parts of a skill: what is dropped, what becomes a slot, how an element is picked again, when a run stops."""

from __future__ import annotations

from typing import Any

from rebind.memory.skill.execute import execute
from rebind.memory.skill.induce import induce
from rebind.memory.skill.reads import only_reads
from rebind.types import Call, Record, Skill, Step, ToolCall

Made = tuple[str, dict[str, Any], Any]


def record(instruction: str, *made: Made, failed: tuple[Made, ...] = ()) -> Record:
    calls = [Call(tool=t, args=a, status=200, result=r) for t, a, r in made]
    calls = [*(Call(tool=t, args=a, status=404, result=r) for t, a, r in failed), *calls]
    steps = tuple(Step(action=ToolCall(tool=c.tool, args=c.args), observation="…", calls=(c,)) for c in calls)
    return Record(instruction=instruction, descriptor="d", first_observation="o", steps=steps)


def induced(*args: Any, **kwargs: Any) -> Skill:
    skill = induce(record(*args, **kwargs))
    assert skill is not None
    return skill


LOGIN: Made = ("supervisor_login", {"app": "mail"}, {"access_token": "tok-abc"})
PEOPLE = [{"id": "con_11111", "name": "Anna Smith"}, {"id": "con_22222", "name": "Bob Jones"}]
SEARCH: Made = ("contacts_search", {"query": "Bob Jones", "page": 1}, {"items": PEOPLE, "page": 1, "pages": 1})
MAIL: Made = ("mail_send", {"to": "con_22222", "body": "See you soon", "access_token": "tok-abc"}, {"id": "mail_1"})
GOAL = 'Write "See you soon" to Bob Jones by mail'


def test_failed_calls_and_looks_that_feed_nothing_are_dropped() -> None:
    skill = induced(GOAL, LOGIN, ("contacts_list", {}, {"items": PEOPLE}), SEARCH, MAIL, failed=(MAIL,))
    assert [s.tool for s in skill.steps] == ["supervisor_login", "contacts_search", "mail_send"]


def test_values_of_the_task_become_slots_and_an_access_token_flows_from_its_login() -> None:
    skill = induced(GOAL, LOGIN, SEARCH, MAIL)
    assert {s.name: s.provenance for s in skill.slots} == {"query": "query", "body": "query"}
    assert skill.steps[0].args == {"app": "mail"}
    assert skill.steps[2].args["access_token"] == {"from": 0, "path": ["access_token"]}


def test_an_element_is_picked_by_the_slot_and_not_by_its_place() -> None:
    skill = induced(GOAL, LOGIN, SEARCH, MAIL)
    assert skill.steps[2].args["to"] == {"from": 1, "path": ["items", "*", "id"], "where": {"name": "query"}}
    done = run(skill, {"query": "Bob Jones", "body": "x"}, items=list(reversed(PEOPLE)))
    assert done.calls[-1].args["to"] == "con_22222"
    done = run(skill, {"query": "Anna Smith", "body": "x"}, items=PEOPLE)
    assert done.calls[-1].args["to"] == "con_11111"


def ordered(instruction: str, *quantities: int) -> tuple[Skill, list[Any]]:
    """The skill of an order of so many products, each searched for, and its quantities."""
    made: list[Made] = []
    for n, quantity in enumerate(quantities):
        made.append(("shop_search", {"query": f"Jam {n}"}, {"product_id": f"prod_{n}0000"}))
        made.append(("shop_add_to_cart", {"product_id": f"prod_{n}0000", "quantity": quantity}, {}))
    skill = induced(instruction, *made)
    return skill, [step.args["quantity"] for step in skill.steps if "quantity" in step.args]


def test_a_number_that_the_task_says_too_by_chance_is_a_value_of_its_own() -> None:
    """Five hampers of two and one: ten, and five that are not the five that the task says."""
    skill, quantities = ordered("Order 5 hampers as the note says", 10, 5)
    provenance = {s.name: s.provenance for s in skill.slots}
    assert quantities[0] != quantities[1]
    assert provenance[quantities[1]["slot"]] == "observation"


def test_a_number_that_the_task_says_for_all_calls_is_one_value() -> None:
    skill, quantities = ordered("Order 5 of each", 5, 5)
    assert quantities[0] == quantities[1]
    assert {s.provenance for s in skill.slots if s.example == 5} == {"query"}


def test_the_first_of_several_is_meant_only_where_the_task_asks_for_an_order() -> None:
    """Otherwise it stands first by chance, and must be looked up."""
    mails = [
        {"id": f"mail_{n}0000", "sender": who} for n, who in ((3, "Anna Smith"), (2, "Bob Jones"), (1, "Bob Jones"))
    ]
    made: list[Made] = [
        LOGIN,
        ("mail_list", {}, {"items": mails}),
        ("mail_star", {"mail_id": "mail_20000", "access_token": "tok-abc"}, {}),
    ]
    newest = induced("Star the newest mail from Bob Jones", *made).steps[-1].args["mail_id"]
    assert newest == {"from": 1, "path": ["items", "*", "id"], "where": {"sender": "sender"}, "first": True}
    one = induced("Star the mail from Bob Jones that is about jam", *made).steps[-1].args["mail_id"]
    assert one == {"slot": "mail_id"}


def test_a_field_that_the_task_says_with_other_capitals_is_equal_by_chance() -> None:
    """The name picks the product; its category is not the address of that name."""
    items = [
        {"id": "prod_11111", "name": "Dough mixer", "category": "home"},
        {"id": "prod_22222", "name": "Lamp", "category": "home"},
    ]
    made: list[Made] = [
        LOGIN,
        ("shop_list", {}, {"items": items}),
        ("shop_review", {"product_id": "prod_11111", "access_token": "tok-abc"}, {}),
    ]
    picked = induced('Review the dough mixer that was sent to "Home"', *made).steps[-1].args["product_id"]
    assert picked == {"from": 1, "path": ["items", "*", "id"], "where": {"name": "name"}}


def test_an_element_that_nothing_tells_apart_must_be_looked_up_by_the_caller() -> None:
    items = [{"id": "mail_33333", "subject": "Hello"}, {"id": "mail_44444", "subject": "Hello"}]
    skill = induced(
        "Star the mail with the best news", LOGIN,
        ("mail_search", {"query": "news", "access_token": "tok-abc"}, {"items": items}),
        ("mail_star", {"mail_id": "mail_44444", "access_token": "tok-abc"}, {}),
    )  # fmt: skip
    assert [(s.name, s.provenance) for s in skill.slots] == [("mail_id", "observation")]
    assert [s.tool for s in skill.steps] == ["supervisor_login", "mail_star"]


def test_a_text_with_values_of_the_task_becomes_a_template() -> None:
    skill = induced(
        "Ask Bob Jones about Friday", LOGIN, SEARCH,
        ("mail_send", {"to": "con_22222", "subject": "Question for Bob Jones", "access_token": "tok-abc"}, {}),
    )  # fmt: skip
    assert skill.steps[2].args["subject"] == {"template": ["Question for ", {"slot": "query"}]}


def test_a_text_with_a_value_of_unknown_origin_is_written_anew() -> None:
    skill = induced(
        "Ask Bob Jones about the trip", LOGIN, SEARCH,
        ("mail_send", {"to": "con_22222", "body": "Hi Bob Jones, is 2026-05-05 fine?", "access_token": "tok-abc"}, {}),
    )  # fmt: skip
    assert skill.steps[2].args["body"] == {"slot": "body"}
    assert "2026" not in str(skill.steps)


def test_a_walk_over_pages_becomes_one_step_that_walks_them_all() -> None:
    pages: list[Made] = [
        ("contacts_search", {"query": "Jones", "page": n}, {"items": [PEOPLE[n - 1]], "page": n, "pages": 2})
        for n in (1, 2)
    ]
    skill = induced("Write hello to Bob Jones", LOGIN, *pages, MAIL)
    assert [s.tool for s in skill.steps] == ["supervisor_login", "contacts_search", "mail_send"]
    many = [{"id": f"con_{n}", "name": f"Person {n}"} for n in range(5)] + [{"id": "con_9", "name": "Cy Jones"}]
    slots = {s.name: {"query": "Jones", "body": "x", "name": "Cy Jones"}[s.name] for s in skill.slots}
    done = run(skill, slots, items=many, page_size=2)
    assert [c.args["page"] for c in done.calls if c.tool == "contacts_search"] == [1, 2, 3]
    assert done.calls[-1].args["to"] == "con_9"


def test_the_call_that_declares_the_task_done_is_left_to_the_actor_unless_its_answer_was_read() -> None:
    show: Made = ("contacts_show", {"contact_id": "con_22222"}, {"id": "con_22222", "phone": "+1 555 0199"})
    read = induced(
        "What is the phone of Bob Jones?", SEARCH, show, ("supervisor_complete_task", {"answer": "+1 555 0199"}, {})
    )
    assert read.steps[-1].args == {"answer": {"from": 1, "path": ["phone"]}}
    assert induce(record("How many are there?", SEARCH, ("supervisor_complete_task", {"answer": "7"}, {}))) is None
    assert induced(GOAL, LOGIN, SEARCH, MAIL, ("supervisor_complete_task", {}, {})).steps[-1].tool == "mail_send"


def test_no_value_of_the_source_is_in_what_the_actor_is_told() -> None:
    from rebind.memory.skill.tool import skill_tool

    told = skill_tool(induced(GOAL, LOGIN, SEARCH, MAIL)).model_dump_json()
    for value in ("Bob", "con_22222", "See you soon", "tok-abc"):
        assert value not in told


def test_a_run_stops_before_a_reference_that_finds_nothing_and_says_why() -> None:
    skill = induced(GOAL, LOGIN, SEARCH, MAIL)
    done = run(skill, {"query": "Zoe", "body": "x"}, items=PEOPLE)
    assert [c.tool for c in done.calls] == ["supervisor_login", "contacts_search"]
    assert done.problem == "stopped before step 3, mail_send: none of 2 found has name 'Zoe'"


def test_a_run_stops_where_several_elements_fit() -> None:
    skill = induced(GOAL, LOGIN, SEARCH, MAIL)
    twins = [{"id": "con_1", "name": "Bob Jones"}, {"id": "con_2", "name": "Bob Jones"}]
    done = run(skill, {"query": "Bob Jones", "body": "x"}, items=twins)
    assert done.problem == "stopped before step 3, mail_send: 2 of 2 found have name 'Bob Jones'"


def test_a_run_stops_at_the_first_call_that_fails() -> None:
    skill = induced(GOAL, LOGIN, SEARCH, MAIL)
    done = run(skill, {"query": "Bob Jones", "body": "x"}, items=PEOPLE, refuse="contacts_search")
    assert [c.ok for c in done.calls] == [True, False]
    assert done.problem == "step 2, contacts_search, failed with 422: {'error': 'no'}"


def test_a_run_without_all_slots_makes_no_call() -> None:
    done = run(induced(GOAL, LOGIN, SEARCH, MAIL), {"query": "x"}, items=PEOPLE)
    assert (done.calls, done.problem) == ((), "skill_mail_send needs body")


def test_tools_are_taken_to_write_unless_their_verb_reads() -> None:
    reading = ("mail_search", "api_docs_show", "chat_messages", "bank_list_payees", "calendar_free_busy")
    assert all(map(only_reads, reading))
    assert not any(
        map(only_reads, ("mail_mark_read", "shop_checkout", "bank_request_money", "notes_create", "frobnicate"))
    )


def run(skill: Skill, slots: dict[str, Any], *, items: list[Any], page_size: int = 50, refuse: str = "") -> Any:
    """Runs a skill against a small address book."""

    def call(made: ToolCall) -> Call:
        if made.tool == refuse:
            return Call(tool=made.tool, args=made.args, status=422, result={"error": "no"})
        result: Any = {}
        if made.tool == "supervisor_login":
            result = {"access_token": "fresh"}
        elif made.tool == "contacts_search":
            page = int(str(made.args.get("page", 1)))
            shown = items[(page - 1) * page_size : page * page_size]
            result = {"items": shown, "page": page, "pages": -(-len(items) // page_size)}
        return Call(tool=made.tool, args=made.args, status=200, result=result)

    return execute(skill, slots, call)
