"""WebArena through `webarena-verified`: its evaluators on our own network recordings, and its tasks in our browser."""
