"""Banks of past trajectories: built, frozen, read; and the targets made from them by binding shift."""
