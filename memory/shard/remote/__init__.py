"""Shards in one machine's folder or in a database beyond it, behind one protocol."""
