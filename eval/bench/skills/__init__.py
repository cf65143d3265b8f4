"""Benchmarks of ShardMemo's skill memory: `apps` and `toolbench`."""
