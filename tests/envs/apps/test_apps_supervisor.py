"""The supervisor's APIs and the generated documentation."""

from __future__ import annotations

from rebind.envs.apps.api.registry import APPS, OPEN_APPS, REGISTRY


def test_the_profile_tells_who_and_when(agent) -> None:
    assert set(agent.ok("supervisor_profile")) == {"name", "email", "phone", "address", "city", "today"}


def test_the_apps_with_an_account_are_all_but_the_open_ones(agent) -> None:
    assert [one["app"] for one in agent.ok("supervisor_list_apps")] == [a for a in APPS if a not in OPEN_APPS]


def test_logging_in_to_an_unknown_app_is_a_404_with_the_nearest_name(agent) -> None:
    assert agent.refused("supervisor_login", app="mials")[0] == 404
    assert "did you mean 'mail'?" in agent.refused("supervisor_login", app="mials")[1]


def test_a_token_belongs_to_one_app_of_one_world(agent, worlds) -> None:
    tokens = {app: agent.ok("supervisor_login", app=app)["access_token"] for app in APPS if app not in OPEN_APPS}
    assert tokens == {app: agent.ok("supervisor_login", app=app)["access_token"] for app in tokens}
    assert len(set(tokens.values())) == len(tokens)
    other = dict(worlds.restore(8).execute("SELECT app, token FROM accounts"))
    assert not set(tokens.values()) & set(other.values())
    assert all(token[0].isalpha() and len(token) == 6 for token in tokens.values())


def test_completing_the_task_records_status_and_answer_and_ends_everything(agent) -> None:
    assert agent.ok("supervisor_complete_task", answer="42", status="fail") == {"completed": True}
    assert agent.rows("SELECT status, answer FROM completion") == [("fail", "42")]
    for tool in ("supervisor_complete_task", "supervisor_profile"):
        status, reason = agent.refused(tool)
        assert status == 422
        assert "already completed" in reason


def test_the_documentation_lists_every_app_and_every_api(agent) -> None:
    apps = agent.ok("api_docs_list_apps")
    assert [one["app"] for one in apps] == list(APPS)
    listed = [one["name"] for app in apps for one in agent.ok("api_docs_list_apis", app=app["app"])]
    assert sorted(listed) == sorted(REGISTRY)
    assert sum(app["apis"] for app in apps) == len(REGISTRY)
    assert agent.refused("api_docs_list_apis", app="calender")[0] == 404


def test_the_documentation_of_an_api_has_its_parameters_with_type_default_and_choices(agent) -> None:
    shown = agent.ok("api_docs_show", api="mail_search")
    parameters = {one["name"]: one for one in shown["parameters"]}
    assert parameters["query"] == {"name": "query", "type": "text", "required": False, "default": ""}
    assert parameters["folder"]["choices"] == ["inbox", "sent", "drafts", "archive", "trash"]
    assert parameters["access_token"]["required"]
    assert "newest first" in shown["summary"]
    assert "Returns a page of {mail_id" in shown["details"]
    assert shown["changes_data"] is False
    assert agent.ok("api_docs_show", api="mail_send")["changes_data"] is True
    status, reason = agent.refused("api_docs_show", api="mail_sned")
    assert status == 404
    assert "'mail_send'" in reason


def test_searching_the_documentation_ranks_the_fitting_api_first(agent) -> None:
    for query, best in (
        ("send mail", "mail_send"),
        ("create standing order", "bank_create_standing_order"),
        ("add contact to group", "contacts_add_to_group"),
        ("free_busy", "calendar_free_busy"),
    ):
        assert agent.ok("api_docs_search", query=query)[0]["name"] == best
    assert len(agent.ok("api_docs_search", query="mail")) == 10
    assert agent.ok("api_docs_search", query="zeppelin") == []
    assert agent.refused("api_docs_search", query=" ")[0] == 422
