"""Runs in the environment that `appworld` lives in; never imported by Rebind."""
