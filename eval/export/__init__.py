"""A run in the formats of other tools, one module each. Everything comes from the ledger; seals, canaries and what the
verifier said in words stay there."""
