"""A real Chromium as an environment's body: one browser a process, a readable view, BrowserGym's actions."""
