"""Benchmarks of OSU-Mem: `run_synthetic`, `run_tau`, `run_toolbench`, `run_speed`, and each result's tables."""
