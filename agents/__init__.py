"""The acting side: the one door to a model (`llm`), the actor, THE loop (`loop`), and the models that ship with it."""
