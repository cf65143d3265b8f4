"""Signatures: Ed25519 over a run's manifest, in a DSSE envelope beside it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rebind.canon import canonical
from rebind.errors import LedgerError
from rebind.eval.ledger.manifest import SIGNATURE_FILE, Manifest, read_manifest, write_json
from rebind.eval.ledger.verify import verify

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from securesystemslib.dsse import Envelope

PAYLOAD_TYPE = "application/vnd.rebind.manifest+json"
_EXTRA = "signatures need the extra `sign`: pip install 'rebind[sign]'"


def keygen(path: Path) -> Path:
    """Makes a key pair: the private key in `path` (PKCS #8 PEM, readable by its owner alone), the public key in
    `path`.pub (PEM), which is returned.

    Raises:
        LedgerError: one of the files exists or cannot be written; the extra is missing.
    """
    private = _ed25519().Ed25519PrivateKey.generate()
    public = path.with_name(path.name + ".pub")
    if public.exists():
        raise LedgerError(f"{public} exists; name another file")
    try:
        _write_new(path, _private_pem(private), 0o600)
        _write_new(public, _public_pem(private.public_key()), 0o644)
    except FileExistsError as error:
        raise LedgerError(f"{error.filename} exists; name another file") from None
    except OSError as error:
        raise LedgerError(f"{error.filename} cannot be written: {error.strerror}") from None
    return public


def sign(folder: Path, key: Path) -> str:
    """Signs the manifest of a finished run that verifies; returns the id of the key. A signature that was there is
    replaced.

    Raises:
        LedgerError: the run is not finished or does not verify; the key cannot be read; the extra is missing.
    """
    found = verify(folder)
    if not found.ok or found.manifest != "matches":
        raise LedgerError(f"{folder} cannot be signed: {found.why or found.note}")
    manifest = read_manifest(folder)
    assert manifest is not None  # it matches
    private = _load_private(key)
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]  # public, but not in an __all__

    signer = CryptoSigner(private, _scheme_key(private.public_key()))
    envelope = Envelope(_payload(manifest), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    write_json(folder / SIGNATURE_FILE, envelope.to_dict())
    return str(signer.public_key.keyid)


def signature_fault(folder: Path, manifest: Manifest, key: Path) -> str | None:
    """Why the signature of a run does not hold for its manifest under a public key; None where it does.

    Raises:
        LedgerError: the key cannot be read, or the extra is missing.
    """
    public = _scheme_key(_load_public(key))
    envelope = _read_envelope(folder)
    if isinstance(envelope, str):
        return envelope
    if envelope.payload_type != PAYLOAD_TYPE:
        return f"{SIGNATURE_FILE} signs a {envelope.payload_type!r}, which is no manifest"
    if public.keyid not in envelope.signatures:
        others = ", ".join(keyid[:16] for keyid in envelope.signatures) or "none"
        return f"the manifest was not signed with this key ({public.keyid[:16]}) but with another ({others})"
    from securesystemslib.exceptions import VerificationError

    try:
        envelope.verify([public], 1)
    except VerificationError:
        return "the signature does not verify under this key: it was edited, or made with another key"
    if envelope.payload != _payload(manifest):
        return "the signature is of another manifest: this run was changed or made anew after it was signed"
    return None


def _read_envelope(folder: Path) -> Envelope | str:
    """The envelope, or why there is none."""
    from securesystemslib.dsse import Envelope

    try:
        envelope = Envelope.from_dict(json.loads((folder / SIGNATURE_FILE).read_bytes()))
        return envelope if isinstance(envelope.payload_type, str) else f"{SIGNATURE_FILE} is no DSSE envelope"
    except FileNotFoundError:
        return "the run is not signed"
    except OSError as error:
        return f"{SIGNATURE_FILE} cannot be read: {error.strerror}"
    except Exception as error:  # whatever an edited envelope raises: it is data of unknown origin
        return f"{SIGNATURE_FILE} is no DSSE envelope ({type(error).__name__})"


def _payload(manifest: Manifest) -> bytes:
    return canonical(manifest.model_dump(mode="json"))


def _load_private(path: Path) -> Ed25519PrivateKey:
    ed25519 = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key: Any = None
    with suppress(ValueError, TypeError):
        key = load_pem_private_key(_read(path), password=None)
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise LedgerError(f"{path} holds no unencrypted Ed25519 private key; `rebind ledger keygen` makes one")
    return cast("Ed25519PrivateKey", key)


def _load_public(path: Path) -> Ed25519PublicKey:
    ed25519 = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key: Any = None
    with suppress(ValueError):
        key = load_pem_public_key(_read(path))
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise LedgerError(f"{path} holds no Ed25519 public key; `rebind ledger keygen` writes it to FILE.pub")
    return cast("Ed25519PublicKey", key)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise LedgerError(f"the key {path} cannot be read: {error.strerror}") from None


def _scheme_key(public: Ed25519PublicKey) -> Any:
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]  # public, but not in an __all__

    return SSlibKey.from_crypto(public)


def _ed25519() -> Any:
    """The library's module, where the extra is there."""
    try:
        import_module("securesystemslib.dsse")
        return import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        raise LedgerError(_EXTRA) from None


def _private_pem(key: Ed25519PrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _public_pem(key: Ed25519PublicKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _write_new(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, mode)  # whatever the umask
        file.write(content)
        file.flush()
        os.fsync(handle)
