"""Runs in the environment that a benchmark on BrowserGym lives in; never imported by Rebind."""
