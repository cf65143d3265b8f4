"""How much of a condition's prompt tokens a provider served from its cache."""

from __future__ import annotations

import pandas as pd

from rebind.eval.metrics import Share, cached_shares


def test_the_cached_share_is_over_the_prompt_tokens_of_episodes_whose_counts_are_known() -> None:
    """Cached tokens of actor and writer over their prompt tokens; an episode with a missing count is in neither sum."""
    rows = [
        ("full", 60, 40, 100, 0),
        ("full", None, 900, 0, 0),
        ("qcr", 30, 50, 20, 30),
        ("none", None, 10, 0, 0),
    ]
    episodes = pd.DataFrame(rows, columns=["condition", "cached", "i_base", "i_mem", "i_syn"])
    for column in ("cached", "i_base", "i_mem", "i_syn"):
        episodes[column] = episodes[column].astype("Int64")
    assert cached_shares(episodes, ("none", "full", "qcr")) == {
        "none": Share(value=None, hits=0, n=0),
        "full": Share(value=60 / 140, hits=60, n=140),
        "qcr": Share(value=0.3, hits=30, n=100),
    }
