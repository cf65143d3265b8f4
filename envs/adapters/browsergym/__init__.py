"""What benchmarks on BrowserGym have in common: its browser and actions, in an environment and a process of its own."""
