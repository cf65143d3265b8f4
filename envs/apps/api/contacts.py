"""The address book: people, their details, groups."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    Row,
    booleans,
    date_or_422,
    email_or_422,
    matches,
    new_id,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import page as page_of
from rebind.envs.apps.api.registry import ApiError, Db, api

Relation = Literal["family", "friend", "colleague", "manager", "client", "vendor", "neighbour"]

_SHORT = ("first_name", "last_name", "relation", "company", "city", "email")
_LINKS = (
    ("chat_members", "contact_id", "is a member of a chat"),
    ("payees", "contact_id", "is linked to a payee of the bank"),
    ("payment_requests", "contact_id", "has a payment request"),
    ("todos", "assignee", "has a task assigned"),
)
"""What keeps a contact from being deleted: table, column, reason."""


@api("contacts")
def search(
    db: Db,
    query: str = "",
    relation: Relation | None = None,
    city: str | None = None,
    company: str | None = None,
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Contacts by name, e-mail or phone, by relation, by current city or company (exact names); sorted by name.

    Returns a page of {contact_id, first_name, last_name, relation, company, city, email}.
    """
    found = [
        {"contact_id": row["id"], **{key: row[key] for key in _SHORT}}
        for row in select(db, "SELECT * FROM contacts ORDER BY first_name, last_name, id")
        if matches(query, f"{row['first_name']} {row['last_name']}", row["email"], row["phone"])
        and relation in (None, row["relation"])
        and (city is None or city.casefold() == row["city"].casefold())
        and (company is None or company.casefold() == row["company"].casefold())
    ]
    return page_of(found, page, page_size)


@api("contacts")
def show(db: Db, contact_id: str) -> JsonValue:
    """All details of a contact.

    Returns the contact with job_title, phone, current and previous address, birthday, favourite, comment and groups.
    """
    row = booleans(one_or_404(db, "contacts", contact_id, "contact"), "favourite")
    groups = "SELECT g.name FROM contact_groups g JOIN contact_group_members m ON m.group_id = g.id"
    row["groups"] = [g["name"] for g in select(db, f"{groups} WHERE m.contact_id = ? ORDER BY g.name", (contact_id,))]
    return {"contact_id": row.pop("id"), **row}


@api("contacts", writes=True)
def create(  # noqa: PLR0913  (an API's parameters are its contract)
    db: Db,
    *,
    first_name: str,
    last_name: str,
    email: str,
    phone: str,
    relation: Relation,
    company: str = "",
    job_title: str = "",
    street: str = "",
    city: str = "",
    birthday: str = "",
) -> JsonValue:
    """Adds a contact; no two contacts may have the same e-mail address.

    Returns {contact_id}.
    """
    text_or_422(first_name, "first_name")
    text_or_422(last_name, "last_name")
    _check_email(db, email)
    if birthday:
        date_or_422(birthday, "birthday")
    contact_id = new_id(db, "contacts", "con")
    row: Row = {
        "id": contact_id, "first_name": first_name, "last_name": last_name, "email": email, "phone": phone,
        "company": company, "job_title": job_title, "relation": relation, "street": street, "city": city,
        "birthday": birthday,
    }  # fmt: skip
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    db.execute(f"INSERT INTO contacts ({columns}) VALUES ({marks})", tuple(row.values()))
    return {"contact_id": contact_id}


@api("contacts", writes=True)
def update(  # noqa: PLR0913  (an API's parameters are its contract)
    db: Db,
    *,
    contact_id: str,
    email: str | None = None,
    phone: str | None = None,
    company: str | None = None,
    job_title: str | None = None,
    street: str | None = None,
    city: str | None = None,
    relation: Relation | None = None,
    comment: str | None = None,
) -> JsonValue:
    """Changes the given details of a contact; a changed street or city moves the old address to the previous one.

    Returns {contact_id}.
    """
    row = one_or_404(db, "contacts", contact_id, "contact")
    given = {
        "email": email, "phone": phone, "company": company, "job_title": job_title, "street": street, "city": city,
        "relation": relation, "comment": comment,
    }  # fmt: skip
    changes: Row = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise ApiError(422, "nothing to change: give at least one detail")
    if email is not None and email != row["email"]:
        _check_email(db, email)
    if any(changes.get(part, row[part]) != row[part] for part in ("street", "city")):
        changes |= {"previous_street": row["street"], "previous_city": row["city"]}
    assignments = ", ".join(f"{name} = ?" for name in changes)
    db.execute(f"UPDATE contacts SET {assignments} WHERE id = ?", (*changes.values(), contact_id))
    return {"contact_id": contact_id}


@api("contacts", writes=True)
def delete(db: Db, contact_id: str) -> JsonValue:
    """Deletes a contact and takes it out of its groups; refused while a chat, payee, payment request or task uses it.

    Returns {contact_id, deleted}.
    """
    one_or_404(db, "contacts", contact_id, "contact")
    for table, column, reason in _LINKS:
        if db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (contact_id,)).fetchone():
            raise ApiError(422, f"{contact_id} cannot be deleted: it {reason}")
    db.execute("DELETE FROM contact_group_members WHERE contact_id = ?", (contact_id,))
    db.execute("DELETE FROM contacts WHERE id = ?", (contact_id,))
    return {"contact_id": contact_id, "deleted": True}


@api("contacts", writes=True)
def set_favourite(db: Db, contact_id: str, favourite: bool) -> JsonValue:
    """Marks a contact as a favourite, or not.

    Returns {contact_id, favourite}.
    """
    one_or_404(db, "contacts", contact_id, "contact")
    db.execute("UPDATE contacts SET favourite = ? WHERE id = ?", (favourite, contact_id))
    return {"contact_id": contact_id, "favourite": favourite}


@api("contacts")
def list_groups(db: Db) -> JsonValue:
    """All contact groups by name.

    Returns a list of {group_id, name, members}, members being their number.
    """
    count = "(SELECT count(*) FROM contact_group_members m WHERE m.group_id = g.id)"
    return [*select(db, f"SELECT id AS group_id, name, {count} AS members FROM contact_groups g ORDER BY name, id")]


@api("contacts")
def show_group(db: Db, group_id: str) -> JsonValue:
    """A group with its members.

    Returns {group_id, name, members: [{contact_id, first_name, last_name, email}]}.
    """
    row = one_or_404(db, "contact_groups", group_id, "group")
    join = "contacts c JOIN contact_group_members m ON m.contact_id = c.id WHERE m.group_id = ?"
    columns = "c.id AS contact_id, c.first_name, c.last_name, c.email"
    row["members"] = select(db, f"SELECT {columns} FROM {join} ORDER BY first_name, last_name, id", (group_id,))
    return {"group_id": row.pop("id"), **row}


@api("contacts", writes=True)
def create_group(db: Db, name: str) -> JsonValue:
    """Creates an empty group.

    Returns {group_id}.
    """
    text_or_422(name, "name")
    if db.execute("SELECT 1 FROM contact_groups WHERE lower(name) = lower(?)", (name,)).fetchone():
        raise ApiError(422, f"there is already a group named {name!r}")
    group_id = new_id(db, "contact_groups", "grp")
    db.execute("INSERT INTO contact_groups VALUES (?, ?)", (group_id, name))
    return {"group_id": group_id}


@api("contacts", writes=True)
def add_to_group(db: Db, group_id: str, contact_id: str) -> JsonValue:
    """Puts a contact into a group.

    Returns {group_id, contact_id}.
    """
    one_or_404(db, "contact_groups", group_id, "group")
    one_or_404(db, "contacts", contact_id, "contact")
    if _is_member(db, group_id, contact_id):
        raise ApiError(422, f"{contact_id} is already in group {group_id}")
    db.execute("INSERT INTO contact_group_members VALUES (?, ?)", (group_id, contact_id))
    return {"group_id": group_id, "contact_id": contact_id}


@api("contacts", writes=True)
def remove_from_group(db: Db, group_id: str, contact_id: str) -> JsonValue:
    """Takes a contact out of a group; the contact itself stays.

    Returns {group_id, contact_id}.
    """
    one_or_404(db, "contact_groups", group_id, "group")
    if not _is_member(db, group_id, contact_id):
        raise ApiError(404, f"{contact_id!r} is not in group {group_id}")
    db.execute("DELETE FROM contact_group_members WHERE group_id = ? AND contact_id = ?", (group_id, contact_id))
    return {"group_id": group_id, "contact_id": contact_id}


def _is_member(db: Db, group_id: str, contact_id: str) -> bool:
    query = "SELECT 1 FROM contact_group_members WHERE group_id = ? AND contact_id = ?"
    return db.execute(query, (group_id, contact_id)).fetchone() is not None


def _check_email(db: Db, email: str) -> None:
    email_or_422(email, "email")
    other = db.execute("SELECT id FROM contacts WHERE lower(email) = lower(?)", (email,)).fetchone()
    if other:
        raise ApiError(422, f"email {email!r} already belongs to contact {other[0]}")
