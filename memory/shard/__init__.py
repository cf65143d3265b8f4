"""ShardMemo's evidence memory: scope before routing, active context (Tier A), sharded evidence (Tier B), its store."""
