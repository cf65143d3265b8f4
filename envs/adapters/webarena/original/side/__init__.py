"""Runs in the environment that `browsergym-webarena` lives in; never imported by Rebind."""
