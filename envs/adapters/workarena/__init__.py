"""WorkArena's L1 tasks on a ServiceNow instance, through `browsergym-workarena` in an environment of its own."""
