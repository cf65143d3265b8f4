"""A model provider on loopback for benchmarks: two wire formats, what goes wrong on them, and an invoice."""
