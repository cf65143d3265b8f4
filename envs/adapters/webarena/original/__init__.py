"""WebArena with its own judge, through `browsergym-webarena` in an environment and a process of its own."""
