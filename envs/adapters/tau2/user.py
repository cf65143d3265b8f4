"""The customer, played by a model through our own door."""

from __future__ import annotations

from rebind.types import Decoding, Message, Model, Request

GREETING = "Hi! How can I help you today?"
"""What τ²'s agent says first."""
_DECODING = Decoding(temperature=0.0, max_tokens=1024)
_OVER = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")


class Customer:
    """Answers as τ²'s customer does: the package's guidelines, the task's scenario, the talk so far with roles turned
    round. For one environment."""

    def __init__(self, model: Model, name: str, decoding: Decoding = _DECODING) -> None:
        self._model, self._name, self._decoding = model, name, decoding
        self._talk: list[Message] = []

    def another(self) -> Customer:
        """One who talks to somebody else."""
        return Customer(self._model, self._name, self._decoding)

    def begin(self, guidelines: str, scenario: str) -> str:
        """Starts a scenario; the customer's first words, after the agent's greeting. Raises ProviderError."""
        self._talk = [Message(role="system", content=f"{guidelines}\n\n<scenario>\n{scenario}\n</scenario>")]
        return self.answer(GREETING)

    def answer(self, said: str) -> str:
        """What the customer says to the agent's words. Raises ProviderError."""
        self._talk.append(Message(role="user", content=said))
        request = Request(model=self._name, purpose="user", messages=tuple(self._talk), decoding=self._decoding)
        completion = self._model.complete(request)
        self._talk.append(Message(role="assistant", content=completion.text))
        return completion.text

    @staticmethod
    def ends(words: str) -> bool:
        """Whether the customer ends the talk with these words."""
        return any(sign in words for sign in _OVER)
