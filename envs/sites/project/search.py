"""A search engine for haystack that looks into the database itself: no index that could survive a reset.

A record fits if every word of the query occurs in its title or text, whatever the case. Records whose title has all
the words come first; within that, by title.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.db.models import Q
from haystack.backends import BaseEngine, BaseSearchBackend, BaseSearchQuery, SearchNode
from haystack.models import SearchResult

_FIELDS = {
    "catalogue.product": ("title", "description", "upc"),
    "forum_conversation.post": ("subject", "content"),
}


class Backend(BaseSearchBackend):
    """Reads only: nothing is indexed."""

    def update(self, *args: Any, **kwargs: Any) -> None:
        pass

    def remove(self, *args: Any, **kwargs: Any) -> None:
        pass

    def clear(self, *args: Any, **kwargs: Any) -> None:
        pass

    def search(self, query_string: str, **kwargs: Any) -> dict[str, Any]:
        """`query_string` is what `Query.build_query` made: words and filters."""
        asked = json.loads(query_string)
        if any(name.startswith("topic") or name in ("forum", "poster_name") for name in asked["filters"]):
            found = _posts(asked)
        else:
            found = _products(asked)
        for name in reversed(kwargs.get("sort_by") or []):
            found.sort(key=partial(_key, name=name.lstrip("-")), reverse=name.startswith("-"))
        start, end = kwargs.get("start_offset") or 0, kwargs.get("end_offset")
        return {"results": found[start:end], "hits": len(found), "facets": {}, "spelling_suggestion": None}


def _products(asked: dict[str, Any]) -> list[SearchResult]:
    from oscar.core.loading import get_model

    product = get_model("catalogue", "Product")
    rows = product.objects.filter(is_public=True, structure__in=("standalone", "parent"))
    rows = _with_words(rows, asked["words"], _FIELDS["catalogue.product"])
    if "category" in asked["filters"]:
        rows = rows.filter(categories__in=asked["filters"]["category"]).distinct()
    return _results(rows, "title", asked["words"])


def _posts(asked: dict[str, Any]) -> list[SearchResult]:
    from machina.core.db.models import get_model

    filters = asked["filters"]
    rows = (
        get_model("forum_conversation", "Post").objects.filter(approved=True).select_related("topic__forum", "poster")
    )
    rows = _with_words(rows, asked["words"], _FIELDS["forum_conversation.post"])
    rows = _with_words(rows, str(filters.get("topic_subject", "")).split(), ("topic__subject",))
    if filters.get("poster_name"):
        rows = rows.filter(poster__username__icontains=filters["poster_name"])
    if "forum" in filters:
        rows = rows.filter(topic__forum__in=filters["forum"])
    return _results(rows, "subject", asked["words"])


def _with_words(rows: Any, words: list[str], fields: tuple[str, ...]) -> Any:
    for word in words:
        fits = Q()
        for field in fields:
            fits |= Q(**{f"{field}__icontains": word})
        rows = rows.filter(fits)
    return rows


def _results(rows: Any, title: str, words: list[str]) -> list[SearchResult]:
    listed = sorted(rows, key=lambda row: (not _all_in(words, getattr(row, title)), getattr(row, title), row.pk))
    return [_result(row, getattr(row, title)) for row in listed]


def _result(row: Any, title: str) -> SearchResult:
    about: dict[str, Any] = {"title": title, "title_exact": title}
    if row._meta.model_name == "post":
        topic = row.topic
        about |= {
            "poster": row.poster_id,
            "poster_name": row.poster.username if row.poster else row.username,
            "forum": topic.forum_id,
            "forum_slug": topic.forum.slug,
            "forum_name": topic.forum.name,
            "topic": topic.pk,
            "topic_slug": topic.slug,
            "topic_subject": topic.subject,
            "created": row.created,
            "updated": row.updated,
        }
    made = SearchResult(row._meta.app_label, row._meta.model_name, row.pk, 1.0, **about)
    made._object = row
    return made


def _all_in(words: list[str], title: str) -> bool:
    return all(word.casefold() in title.casefold() for word in words)


def _key(result: SearchResult, name: str) -> Any:
    row = result._object
    if name == "price":
        stock = row.stockrecords.first()
        return stock.price if stock else 0
    if name in ("rating", "date_created", "created"):
        value = getattr(row, name, None)
        return (value is not None, value or 0)
    return result.title


class Query(BaseSearchQuery):
    """Hands words and filters on as JSON."""

    def build_query(self) -> str:
        words: list[str] = []
        filters: dict[str, Any] = {}
        for expression, value in _conditions(self.query_filter):
            name = expression.split("__")[0]
            if name == "content":
                words += str(getattr(value, "query_string", value)).replace("*", " ").split()
            else:
                plain = getattr(value, "query_string", value)
                filters[name] = plain if isinstance(plain, str | int | bool) else list(plain)
        return json.dumps({"words": words, "filters": filters})

    def build_query_fragment(self, field: str, filter_type: str, value: Any) -> str:
        return str(value)


def _conditions(node: SearchNode) -> Any:
    for child in node.children:
        if hasattr(child, "children"):
            yield from _conditions(child)
        else:
            yield child


class Engine(BaseEngine):
    backend = Backend
    query = Query
