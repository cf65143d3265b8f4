"""AppWorld, through the package `appworld` in an environment and processes of its own."""
