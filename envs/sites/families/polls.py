"""The forum's polls."""

from __future__ import annotations

from rebind.envs.apps.families.draw import choice, phrase
from rebind.envs.apps.families.effects import Added, Part, says
from rebind.envs.sites.families.base import (
    Bound,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
    visited,
)
from rebind.envs.sites.families.draws import listed, lookup, query
from rebind.envs.sites.families.flows import Oracle, click, done, fill, open_topic
from rebind.envs.sites.families.forum import EDITOR, FORUM, MESSAGE


class StartPoll(Family):
    id = "sites/start-poll"
    group = "5-10"
    account, start = "cora.silva", "/forum/"
    drawn = (
        Drawn("forum", "location", FORUM, central=True),
        Drawn(
            "subject",
            "parameter",
            phrase(
                "{a} {b}",
                a="A poll on | Asking about | Your vote on",
                b="spring plans | the next meeting | tools to share | colours",
            ),
        ),
        Drawn("message", "parameter", MESSAGE),
        Drawn("question", "parameter", choice("Which one? | What is best? | What do you choose? | When?")),
        Drawn(
            "options",
            "parameter",
            choice((["Yes", "No"], ["April", "May"], ["Red", "Green"], ["Early", "Late"])),
            show=listed,
        ),
    )
    grounded = (Grounded("forum_id", "record", lookup("SELECT id FROM forum_forum WHERE name = ?", "forum")),)
    wordings = (
        'Start a topic "{subject}" in the forum "{forum}" with the text "{message}" and a poll: the question is '
        '"{question}", the options are {options}.',
        'In "{forum}", post a new topic. Subject: "{subject}". Message: "{message}". It has a poll, '
        '"{question}", with the '
        "options {options}.",
        'Ask the forum "{forum}" by a poll: topic "{subject}", message "{message}", poll question '
        '"{question}", options '
        "{options}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from click(f'link "{b.forum}"', 'link "New topic" #1')
        yield from fill('textbox "Subject"', b.subject)
        yield from fill(EDITOR, b.message)
        yield from click('link "Poll"')
        yield from fill('textbox "Poll question (optional)"', b.question)
        for n, option in enumerate(b.options, 1):
            yield from fill(f'textbox "Enter a poll option" #{n}', option)
        yield from click('button "Submit"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        options = tuple(Part("forum_polls_topicpolloption", "poll_id", text=says(option)) for option in b.options)
        poll = Part("forum_polls_topicpoll", "topic_id", question=says(b.question), parts=options)
        post = Part("forum_conversation_post", "topic_id", content=says(b.message))
        topic = Added(
            "forum_conversation_topic",
            forum_id=b.forum_id,
            subject=says(b.subject),
            parts=(post, poll),
            mark="started: topic and poll are there",
        )
        return Expected(effects=(topic,), marks=(visited("form: opened the form", "/forum/forum/.*/topic/create/"),))


class Vote(Family):
    id = "sites/vote-and-reply"
    group = "5-10"
    account, start = "dan.keller", "/forum/"
    drawn = (
        Drawn(
            "topic",
            "record",
            query(
                "SELECT subject FROM forum_conversation_topic t JOIN forum_polls_topicpoll p ON p.topic_id = t.id "
                "ORDER BY t.id"
            ),
            central=True,
        ),
        Drawn(
            "forum",
            "location",
            query(
                "SELECT f.name FROM forum_forum f JOIN forum_conversation_topic t ON t.forum_id = f.id JOIN "
                "forum_polls_topicpoll p "
                "ON p.topic_id = t.id WHERE subject = ?",
                "topic",
            ),
            needs=("topic",),
        ),
        Drawn(
            "option",
            "parameter",
            query(
                "SELECT o.text FROM forum_polls_topicpolloption o JOIN forum_polls_topicpoll p ON p.id = o.poll_id "
                "JOIN "
                "forum_conversation_topic t ON t.id = p.topic_id WHERE subject = ? ORDER BY o.id",
                "topic",
            ),
            needs=("topic",),
        ),
        Drawn("message", "parameter", MESSAGE),
    )
    grounded = (
        Grounded(
            "poll_id",
            "record",
            lookup(
                "SELECT p.id FROM forum_polls_topicpoll p JOIN forum_conversation_topic t ON t.id = p.topic_id WHERE "
                "subject = ?",
                "topic",
            ),
        ),
    )
    wordings = (
        'Vote for "{option}" in the poll of the topic "{topic}" ("{forum}"), then post the reply "{message}" there.',
        'The topic "{topic}" in "{forum}" has a poll: choose "{option}", and add "{message}" as a reply.',
        'In "{forum}", take part in the poll of "{topic}" with the vote "{option}" and reply with "{message}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_topic(b.forum, b.topic)
        yield from click(f'radio "{b.option}"', 'button "Submit"', 'link "Post reply" #1')
        yield from fill(EDITOR, b.message)
        yield from click('button "Submit"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        option = start.value(
            "SELECT id FROM forum_polls_topicpolloption WHERE poll_id = ? AND text = ?", b.poll_id, b.option
        )
        topic = start.value("SELECT topic_id FROM forum_polls_topicpoll WHERE id = ?", b.poll_id)
        vote = Added("forum_polls_topicpollvote", poll_option_id=option, mark="voted: the vote counts")
        post = Added(
            "forum_conversation_post", topic_id=topic, content=says(b.message), mark="posted: the reply is there"
        )
        return Expected(effects=(vote, post), marks=(saw("found: opened the topic", f"# {b.topic}"),))
