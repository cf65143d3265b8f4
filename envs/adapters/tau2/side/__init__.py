"""What runs in the other Python, beside the package `tau2`; imported nowhere in ours."""
