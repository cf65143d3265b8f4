"""Benchmarks of ShardMemo's evidence half: `locomo`, `hotpot`, `banking`, `scope`, `scale`, `permissions`."""
