"""The forum: categories, forums, topics with their posts, polls."""

from __future__ import annotations

import datetime
import random
from typing import Any

from rebind.envs.sites.content import words
from rebind.envs.sites.project.clock import START

TOPICS_PER_FORUM = 20


def forum(rng: random.Random, writers: list[Any]) -> None:
    from machina.core.db.models import get_model

    board, topic, post = (
        get_model("forum", "Forum"), get_model("forum_conversation", "Topic"), get_model("forum_conversation", "Post"),
    )  # fmt: skip
    topics, posts = [], []
    for category, forums in words.FORUMS.items():
        parent = board(name=category, type=1)
        parent.save()
        for name, subjects in forums.items():
            child = board(name=name, type=0, parent=parent, description=f"All about {name.lower()}.")
            child.save()
            titles = [f"{opener} {subject}" for opener in words.OPENERS for subject in subjects.split("|")]
            for subject in rng.sample(titles, TOPICS_PER_FORUM):
                made = topic(forum=child, poster=rng.choice(writers), subject=subject, type=0, status=0, approved=True)
                made.slug = subject.lower().replace(" ", "-")
                topics.append(made)
    topic.objects.bulk_create(topics)
    for made in topics:
        posts += _thread(rng, post, made, writers)
    moments = [p.created for p in posts]
    post.objects.bulk_create(posts)
    _dates(posts, moments, topics)
    _polls(rng, topics[::18])
    for child in board.objects.filter(type=0):
        child.update_trackers()


def _thread(rng: random.Random, model: Any, topic: Any, writers: list[Any]) -> list[Any]:
    at = START - datetime.timedelta(minutes=rng.randrange(2 * 24 * 60, 200 * 24 * 60))
    made = []
    for n in range(rng.randrange(4, 16)):
        subject = topic.subject if n == 0 else f"Re: {topic.subject}"
        text = " ".join(rng.sample(words.SENTENCES, rng.randrange(1, 4)))
        made.append(
            model(topic=topic, poster=topic.poster if n == 0 else rng.choice(writers), subject=subject, content=text,
                  approved=True)
        )  # fmt: skip
        made[-1].created = at
        at += datetime.timedelta(minutes=rng.randrange(5, 60))
    return made


def _dates(posts: list[Any], moments: list[datetime.datetime], topics: list[Any]) -> None:
    """Dates and the numbers that the forum keeps beside its posts."""
    from django.db import connection

    first: dict[int, Any] = {}
    last: dict[int, Any] = {}
    count: dict[int, int] = {}
    for post, at in zip(posts, moments, strict=True):
        post.created = at
        first.setdefault(post.topic_id, post)
        last[post.topic_id] = post
        count[post.topic_id] = count.get(post.topic_id, 0) + 1
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE forum_conversation_post SET created = %s, updated = %s WHERE id = %s",
            [(at, at, post.pk) for post, at in zip(posts, moments, strict=True)],
        )
        cursor.executemany(
            "UPDATE forum_conversation_topic SET created = %s, updated = %s, last_post_on = %s, first_post_id = %s, "
            "last_post_id = %s, posts_count = %s WHERE id = %s",
            [
                (first[t.pk].created, last[t.pk].created, last[t.pk].created, first[t.pk].pk, last[t.pk].pk,
                 count[t.pk], t.pk)
                for t in topics
            ],
        )  # fmt: skip
    _members(posts)


def _members(posts: list[Any]) -> None:
    from machina.core.db.models import get_model

    count: dict[int, int] = {}
    for post in posts:
        count[post.poster_id] = count.get(post.poster_id, 0) + 1
    profile = get_model("forum_member", "ForumProfile")
    profile.objects.all().delete()
    profile.objects.bulk_create([profile(user_id=user, posts_count=n) for user, n in sorted(count.items())])


def _polls(rng: random.Random, topics: list[Any]) -> None:
    from machina.core.db.models import get_model

    poll, option = get_model("forum_polls", "TopicPoll"), get_model("forum_polls", "TopicPollOption")
    for topic in topics:
        made = poll.objects.create(topic=topic, question="What would you do first?", max_options=1, user_changes=False)
        for text in rng.sample(("Ask a friend", "Read the manual", "Buy a new one", "Take it apart", "Wait"), 3):
            option.objects.create(poll=made, text=text)
