"""OSU-Mem: overlapping semantic units over a trajectory, and everything it is compared with (arXiv 2606.28376).

`retrieve.OsuMem.of(trajectory(embeddings, costs, notes)).retrieve(on_grid(query), budget)` gives the steps to deliver;
`growing.GrowingPool` takes steps as they come.
"""
