"""ToolBench and StableToolBench: their recorded runs, queries and responses, and a closed loop on them."""
