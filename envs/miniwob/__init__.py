"""MiniWoB++ through its own package (`miniwob`, MIT) in Rebind's browser: pages nobody here wrote."""
