"""The forum: replies to topics."""

from __future__ import annotations

from typing import ClassVar

from rebind.envs.apps.families.draw import choice, phrase
from rebind.envs.apps.families.effects import Added, says
from rebind.envs.sites.families.answers import Person
from rebind.envs.sites.families.base import (
    Bound,
    CannotBuild,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
)
from rebind.envs.sites.families.draws import listed, lookup, queries, query
from rebind.envs.sites.families.flows import Oracle, click, done, fill, open_topic, reads, rest

FORUM = query("SELECT name FROM forum_forum WHERE type = 0 ORDER BY id")
TOPIC = query(
    "SELECT subject FROM forum_conversation_topic t JOIN forum_forum f ON f.id = t.forum_id WHERE f.name = ? "
    "ORDER BY t.id",
    "forum",
)
NO_TOPIC = query("SELECT subject || ' at home' FROM forum_conversation_topic ORDER BY id")
TOPIC_ID = lookup(
    "SELECT t.id FROM forum_conversation_topic t JOIN forum_forum f ON f.id = t.forum_id WHERE subject = ? "
    "AND f.name = ?",
    "topic",
    "forum",
)
MESSAGE = phrase(
    "{a} {b}",
    a="Thank you all. | Just my view: | I asked around. | Same here.",
    b="Vinegar works best. | Do it on a dry day. | Take your time with it. | Ours is ten years old. | Ask around.",
)
EDITOR = 'textbox ""'
"""The message field, which has no name of its own."""


class ReplyToTopic(Family):
    id = "sites/reply-to-topic"
    group = "5-10"
    account, start = "ada.fischer", "/forum/"
    drawn = (
        Drawn("forum", "location", FORUM, central=True),
        Drawn("topic", "record", TOPIC, central=True, needs=("forum",)),
        Drawn("message", "parameter", MESSAGE),
    )
    grounded = (Grounded("topic_id", "record", TOPIC_ID),)
    absent: ClassVar = {"topic": NO_TOPIC}
    wordings = (
        'Reply to the topic "{topic}" in the forum "{forum}" with: "{message}"',
        'In "{forum}" there is a topic "{topic}". Post the reply "{message}" there.',
        'Post "{message}" as an answer in the "{forum}" topic "{topic}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_topic(b.forum, b.topic)
        yield from click('link "Post reply" #1')
        yield from fill(EDITOR, b.message)
        yield from click('button "Submit"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        post = Added(
            "forum_conversation_post", topic_id=b.topic_id, content=says(b.message), mark="posted: the reply is there"
        )
        return Expected(effects=(post,), marks=(saw("found: opened the topic", f"# {b.topic}"),))


class ReplyToMany(Family):
    id = "sites/reply-to-many-topics"
    group = "21-35"
    account, start = "ben.osei", "/forum/"
    drawn = (
        Drawn("forum", "location", FORUM, central=True),
        Drawn(
            "topics",
            "record",
            queries(
                5,
                "SELECT subject FROM forum_conversation_topic t JOIN forum_forum f ON f.id = t.forum_id WHERE f.name "
                "= ? "
                "ORDER BY t.id",
                "forum",
            ),
            central=True,
            needs=("forum",),
            show=listed,
        ),
        Drawn("message", "parameter", MESSAGE),
    )
    grounded = (
        Grounded(
            "topic_ids",
            "record",
            lambda v, b: [
                v.value(
                    "SELECT t.id FROM forum_conversation_topic t JOIN forum_forum f ON f.id = t.forum_id "
                    "WHERE subject = ? AND f.name = ?",
                    topic,
                    b.forum,
                )
                for topic in b.topics
            ],
        ),
    )
    wordings = (
        'Post the same reply, "{message}", in these topics of the forum "{forum}": {topics}.',
        'In the forum "{forum}", answer each of the topics {topics} with "{message}"',
        'The topics {topics} in "{forum}" all need this reply: "{message}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        for topic in b.topics:
            yield from open_topic(b.forum, topic)
            yield from click('link "Post reply" #1')
            yield from fill(EDITOR, b.message)
            yield from click('button "Submit"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        return Expected(
            effects=[
                Added(
                    "forum_conversation_post",
                    topic_id=one,
                    content=says(b.message),
                    mark=f"posted-{n}: replied in {topic}",
                )
                for n, (one, topic) in enumerate(zip(b.topic_ids, b.topics, strict=True), 1)
            ]
        )


class ReplyAuthor(Family):
    id = "sites/reply-author-question"
    group = "<5"
    account, start = "eva.marsh", "/forum/"
    drawn = (
        Drawn("forum", "location", FORUM, central=True),
        Drawn("topic", "record", TOPIC, central=True, needs=("forum",)),
        Drawn("which", "parameter", choice("first | second | third | last")),
    )
    grounded = (Grounded("topic_id", "record", TOPIC_ID),)
    absent: ClassVar = {"topic": NO_TOPIC}
    wordings = (
        'Who wrote the {which} reply in the topic "{topic}" of the forum "{forum}"?',
        'In "{forum}", topic "{topic}": which member posted the {which} reply?',
        'Tell me the user name of the author of the {which} reply to "{topic}" ("{forum}").',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_topic(b.forum, b.topic)
        page = yield from rest(page)
        replies = page.split(f"#### Re: {b.topic}\n")[1:]
        reply = replies[{"first": 0, "second": 1, "third": 2, "last": -1}[b.which]]
        yield from done(reads(r'By: \[\d+\] link "([^"]+)"', reply))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        writers = start.column(
            "SELECT u.username FROM forum_conversation_post p JOIN auth_user u ON u.id = p.poster_id WHERE "
            "topic_id = ? "
            "ORDER BY p.created",
            b.topic_id,
        )[1:]
        if len(writers) < 4:
            raise CannotBuild("too few replies")
        writer = writers[{"first": 0, "second": 1, "third": 2, "last": -1}[b.which]]
        return Expected(answer=Person(writer), marks=(saw("found: opened the topic", f"# {b.topic}"),))
