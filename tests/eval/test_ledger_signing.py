"""Signatures: only the run that was signed verifies under the signer's key, and the reason says what is wrong."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rebind.cli.app import app
from rebind.errors import LedgerError
from rebind.eval.bench.tampering import rechained
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, SIGNATURE_FILE, Ledger, verify
from rebind.eval.ledger.chain import walk
from rebind.eval.ledger.manifest import write_manifest
from rebind.eval.ledger.redaction import Selector, redact
from rebind.eval.ledger.signing import keygen, sign


def finished(folder: Path, events: int = 5) -> Path:
    folder.mkdir()
    (folder / "study.lock").write_text("{}")
    with Ledger.open(folder) as ledger:
        for n in range(events):
            ledger.append("note", {"n": n, "text": f"text {n}"})
        ledger.seal()
    return folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    keygen(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def public(key: Path) -> Path:
    return key.with_name("key.pub")


@pytest.fixture
def run(tmp_path: Path, key: Path) -> Path:
    folder = finished(tmp_path / "run")
    sign(folder, key)
    return folder


def fails(folder: Path, public: Path) -> str:
    found = verify(folder, public)
    assert not found.ok
    return found.why or ""


def test_a_signed_run_verifies_under_the_signers_key_and_without_one_says_it_was_not_checked(
    run: Path, public: Path
) -> None:
    found = verify(run, public)
    assert (found.ok, found.signature, found.note) == (True, "verified", "")
    found = verify(run)
    assert (found.ok, found.signature) == (True, "unchecked")
    assert "--key" in found.note


def test_the_private_key_is_its_owners_alone_and_no_file_is_overwritten(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(LedgerError, match="exists"):
        keygen(key)
    key.unlink()
    with pytest.raises(LedgerError, match="exists"):
        keygen(key)
    assert not key.exists()


def test_the_envelope_is_dsse_over_the_canonical_manifest(run: Path, public: Path) -> None:
    import base64

    import rfc8785
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    envelope = json.loads((run / SIGNATURE_FILE).read_bytes())
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"]
    assert payload == rfc8785.dumps(json.loads((run / MANIFEST_FILE).read_bytes()))
    key = load_pem_public_key(public.read_bytes())
    assert isinstance(key, Ed25519PublicKey)
    signed = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), signed)


def test_a_run_without_a_signature_fails_when_a_key_is_given(tmp_path: Path, public: Path) -> None:
    folder = finished(tmp_path / "plain")
    assert fails(folder, public) == "the run is not signed"
    assert verify(folder).signature == "absent"


def test_another_key_does_not_verify_it(run: Path, tmp_path: Path) -> None:
    other = keygen(tmp_path / "other")
    assert "not signed with this key" in fails(run, other)


def test_the_signature_of_another_run_does_not_verify(run: Path, tmp_path: Path, key: Path, public: Path) -> None:
    other = finished(tmp_path / "another", events=6)
    sign(other, key)
    (run / SIGNATURE_FILE).write_bytes((other / SIGNATURE_FILE).read_bytes())
    assert "of another manifest" in fails(run, public)


def test_a_ledger_chained_and_sealed_anew_after_an_edit_is_found_by_its_signature(run: Path, public: Path) -> None:
    path, signature = run / LEDGER_FILE, (run / SIGNATURE_FILE).read_bytes()
    lines = path.read_bytes().replace(b'"n":3,"text"', b'"n":8,"text"').splitlines(keepends=True)
    path.write_bytes(b"".join(rechained(lines)))
    write_manifest(run, walk(path), ["study.lock"])
    (run / SIGNATURE_FILE).write_bytes(signature)
    assert verify(run).ok  # to who has no key the forgery is perfect
    assert "of another manifest" in fails(run, public)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"sig": "', b'"sig": "AAAA', "does not verify"),
        (b'"payload": "', b'"payload": "AAAA', "does not verify"),
        (b"manifest+json", b"something+json", "is no manifest"),
        (b'"keyid": "', b'"keyid": "00', "not signed with this key"),
        (b'"payload"', b'"pay"', "no DSSE envelope"),
        (b"{", b"", "no DSSE envelope"),
    ],
)
def test_an_edited_envelope_does_not_verify(run: Path, public: Path, old: bytes, new: bytes, why: str) -> None:
    path = run / SIGNATURE_FILE
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    assert why in fails(run, public)


def test_a_redacted_run_keeps_its_signature(run: Path, public: Path) -> None:
    redact(run, [Selector.parse("note.text")])
    found = verify(run, public)
    assert (found.ok, found.signature, found.redacted) == (True, "verified", 5)


def test_going_on_drops_the_signature_and_sealing_again_does_not_bring_it_back(run: Path, public: Path) -> None:
    with Ledger.open(run) as ledger:
        ledger.seal()
        assert (run / SIGNATURE_FILE).exists()  # nothing was added
        ledger.append("note", {"more": 1})
        assert not (run / SIGNATURE_FILE).exists()
        ledger.seal()
    assert fails(run, public) == "the run is not signed"


def test_an_unfinished_run_is_neither_signed_nor_verified_with_a_key(tmp_path: Path, key: Path, public: Path) -> None:
    folder = tmp_path / "open"
    with Ledger.open(folder) as ledger:
        ledger.append("note", {})
    with pytest.raises(LedgerError, match="chain alone"):
        sign(folder, key)
    assert "not finished" in fails(folder, public)


def test_a_file_that_is_no_key_is_a_clear_error(run: Path, key: Path, public: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no key")
    for wrong in (tmp_path / "text", public):
        with pytest.raises(LedgerError, match="no unencrypted Ed25519 private key"):
            sign(run, wrong)
    for wrong in (tmp_path / "text", key):
        with pytest.raises(LedgerError, match="no Ed25519 public key"):
            verify(run, wrong)
    with pytest.raises(LedgerError, match="cannot be read"):
        verify(run, tmp_path / "nothing")


def test_the_commands_make_keys_sign_and_verify(tmp_path: Path) -> None:
    folder, key = finished(tmp_path / "run"), tmp_path / "k"
    for arguments, code in (
        (["keygen", key], 0),
        (["verify", folder, "--key", f"{key}.pub"], 1),
        (["sign", folder, "--key", key], 0),
        (["verify", folder, "--key", f"{key}.pub", "--json"], 0),
    ):
        done = CliRunner().invoke(app, ["ledger", *map(str, arguments)])
        assert done.exit_code == code, done.output
    assert json.loads(done.stdout)["signature"] == "verified"
