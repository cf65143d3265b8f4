"""E-mail: sending, replying, forwarding, drafts."""

from __future__ import annotations

from pydantic import JsonValue

from rebind.envs.apps.api.common import email_or_422, new_id, now, one_or_404, select, text_or_422
from rebind.envs.apps.api.registry import ApiError, Db, api


@api("mail", writes=True)
def send(db: Db, to: list[str], subject: str, body: str, attachments: list[str] = []) -> JsonValue:  # noqa: B006  (never changed; the default is documentation)
    """Sends a mail; to: e-mail addresses, attachments: file ids.

    Returns {mail_id}; the mail is in the folder sent.
    """
    text_or_422(subject, "subject")
    for file_id in attachments:
        one_or_404(db, "files", file_id, "file")
    return {"mail_id": _store(db, "sent", to, subject, body, attachments=attachments)}


@api("mail", writes=True)
def reply(db: Db, mail_id: str, body: str) -> JsonValue:
    """Answers a mail: to its sender, or to its recipients where the person sent it themselves.

    Returns {mail_id} of the answer.
    """
    row = _correspondence(db, mail_id, "answered")
    text_or_422(body, "body")
    own = row["sender"] == _own_address(db)
    to = row["recipients"].split(", ") if own else [row["sender"]]
    return {"mail_id": _store(db, "sent", to, _prefixed("Re: ", row["subject"]), body, reply_to=mail_id)}


@api("mail", writes=True)
def forward(db: Db, mail_id: str, to: list[str], comment: str = "") -> JsonValue:
    """Forwards a mail with its attachments; the comment stands above the original text.

    Returns {mail_id} of the forwarded mail.
    """
    row = _correspondence(db, mail_id, "forwarded")
    quoted = f"---------- Forwarded message ----------\nFrom: {row['sender']}\nDate: {row['sent_at']}\n"
    quoted += f"Subject: {row['subject']}\n\n{row['body']}"
    body = f"{comment}\n\n{quoted}" if comment else quoted
    files = [r["file_id"] for r in select(db, "SELECT file_id FROM mail_attachments WHERE mail_id = ?", (mail_id,))]
    subject = _prefixed("Fwd: ", row["subject"])
    return {"mail_id": _store(db, "sent", to, subject, body, attachments=files, forwarded_from=mail_id)}


@api("mail", writes=True)
def save_draft(db: Db, to: list[str], subject: str, body: str) -> JsonValue:
    """Keeps a mail as a draft, without sending it.

    Returns {mail_id}.
    """
    return {"mail_id": _store(db, "drafts", to, subject, body)}


@api("mail", writes=True)
def send_draft(db: Db, mail_id: str) -> JsonValue:
    """Sends a draft as it is.

    Returns {mail_id, folder}.
    """
    row = one_or_404(db, "mails", mail_id, "mail")
    if row["folder"] != "drafts":
        raise ApiError(422, f"{mail_id} is no draft: it is in {row['folder']}")
    text_or_422(row["subject"], "subject of the draft")
    db.execute("UPDATE mails SET folder = 'sent', sent_at = ? WHERE id = ?", (now(db), mail_id))
    return {"mail_id": mail_id, "folder": "sent"}


def _correspondence(db: Db, mail_id: str, what: str) -> dict[str, str]:
    row = one_or_404(db, "mails", mail_id, "mail")
    if row["folder"] == "drafts":
        raise ApiError(422, f"{mail_id} is a draft: it cannot be {what}")
    return row


def _own_address(db: Db) -> str:
    return str(db.execute("SELECT value FROM profile WHERE key = 'email'").fetchone()[0])


def _prefixed(prefix: str, subject: str) -> str:
    return subject if subject.casefold().startswith(prefix.casefold()) else prefix + subject


def _store(
    db: Db,
    folder: str,
    to: list[str],
    subject: str,
    body: str,
    *,
    attachments: list[str] | None = None,
    reply_to: str | None = None,
    forwarded_from: str | None = None,
) -> str:
    if not to:
        raise ApiError(422, "to must have at least one e-mail address")
    recipients = ", ".join(dict.fromkeys(email_or_422(address, "to") for address in to))
    mail_id = new_id(db, "mails", "mail")
    row = (mail_id, folder, _own_address(db), recipients, subject, body, now(db), 1, 0, reply_to, forwarded_from)
    db.execute("INSERT INTO mails VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for file_id in dict.fromkeys(attachments or []):
        db.execute("INSERT INTO mail_attachments VALUES (?, ?)", (mail_id, file_id))
    return mail_id
