"""Documentation of every API, generated from the registry, so that an agent can find what its prompt does not list."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.envs.apps.api.registry import APPS, REGISTRY, Api, ApiError, Db, Parameter, api
from rebind.errors import did_you_mean

_HITS = 10


@api("api_docs")
def list_apps(db: Db) -> JsonValue:
    """All apps with the number of their APIs.

    Returns a list of {app, description, apis}.
    """
    return [
        {"app": app, "description": text, "apis": sum(one.app == app for one in REGISTRY.values())}
        for app, text in APPS.items()
    ]


@api("api_docs")
def list_apis(db: Db, app: str) -> JsonValue:
    """The APIs of one app.

    Returns a list of {name, summary}.
    """
    if app not in APPS:
        raise ApiError(404, f"no app {app!r}{did_you_mean(app, APPS)}")
    return [_brief(one) for one in REGISTRY.values() if one.app == app]


@api("api_docs")
def show(db: Db, api: str) -> JsonValue:
    """Full documentation of one API, by its full name (mail_search).

    Returns {name, summary, details, changes_data, parameters: [{name, type, required, default, choices}]}.
    """
    one = REGISTRY.get(api)
    if one is None:
        raise ApiError(404, f"no API {api!r}{did_you_mean(api, REGISTRY)}")
    parameters: list[JsonValue] = [_parameter(p) for p in one.parameters]
    document: dict[str, JsonValue] = {
        "name": one.name,
        "summary": one.summary,
        "details": " ".join(one.details.split()),
        "changes_data": one.writes,
        "parameters": parameters,
    }
    return document


@api("api_docs")
def search(db: Db, query: str) -> JsonValue:
    """Finds APIs by words of their name, app, parameters or description, best first.

    Returns up to 10 of {name, summary}.
    """
    words = query.casefold().replace("_", " ").split()
    if not words:
        raise ApiError(422, "query must not be empty")
    ranked = sorted(REGISTRY.values(), key=lambda one: (-_score(one, words), one.name))
    return [_brief(one) for one in ranked if _score(one, words)][:_HITS]


def _brief(one: Api) -> JsonValue:
    return {"name": one.name, "summary": one.summary}


def _parameter(parameter: Parameter) -> JsonValue:
    document: dict[str, JsonValue] = {
        "name": parameter.name,
        "type": parameter.type,
        "required": parameter.required,
    }
    if not parameter.required:
        document["default"] = parameter.default
    if parameter.choices:
        document["choices"] = list(parameter.choices)
    return document


def _score(one: Api, words: list[str]) -> int:
    """A word counts 4 in the name, 2 in the summary, 1 in details and parameters; a plural finds its singular."""
    texts = (
        (4, one.name.replace("_", " ")),
        (2, one.summary.casefold()),
        (1, one.details.casefold() + " " + " ".join(p.name for p in one.parameters)),
    )
    stems = [word.removesuffix("s") if len(word) > len("ids") else word for word in words]
    return sum(weight for weight, text in texts for stem in stems if stem in text)
