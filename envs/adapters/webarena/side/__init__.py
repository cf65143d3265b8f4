"""Runs in the environment that `webarena-verified` lives in; never imported by Rebind."""
