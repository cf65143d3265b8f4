"""The app world: a dozen apps behind documented APIs, task families, and a verifier by state difference.

Importing this package registers `rebind/Apps-v0` with Gymnasium.
"""

from rebind.envs import register

register()
