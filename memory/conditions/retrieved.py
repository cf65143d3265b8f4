"""What the conditions `osu` and `flat` share: retrieved steps of the selected record under a token budget."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rebind.memory.render import render_step
from rebind.memory.tokens import count_text
from rebind.types import Record, Support, SupportAsk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebind.memory.osu.packing import Memory
    from rebind.memory.osu.trajectory import Trajectory

_ENCODER = "all-minilm-l6-v2"
Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]


class RetrievedSteps(ABC):
    """Delivers the steps of the selected record that a memory retrieves for the goal, in the record's own order.

    The query is the goal and the first observation, encoded as the steps are. A step's cost is its tokens by the
    writer's tokenizer, so the steps fit the budget as the writers' supports do. No model is asked.
    """

    name: str

    def __init__(self, budget: int | None = None, encode: Encode | None = None) -> None:
        """`budget` in tokens; the length cap of written support where not given. `encode` turns texts into vectors;
        all-MiniLM-L6-v2 where not given."""
        self._budget = budget
        self._encode = encode

    @abstractmethod
    def remember(self, history: Trajectory) -> Memory:
        """The memory that retrieves; what tells one condition from another."""

    def support(self, ask: SupportAsk) -> Support:
        """The retrieved steps as text and as turns; flagged with how many of the record's steps they are."""
        if ask.record is None or not ask.record.steps:
            return Support(condition=self.name, flags=("no-record",))
        record = ask.record
        texts = [render_step(step) for step in record.steps]
        budget = ask.cap_tokens if self._budget is None else self._budget
        chosen = self._chosen(ask, record, texts, budget)
        lines = [f"{step + 1}. {texts[step]}" for step in chosen]
        return Support(
            condition=self.name,
            text="\n".join([f"Task: {record.instruction}", *lines]) if lines else "",
            turns=tuple(record.steps[step] for step in chosen),
            turns_goal=record.instruction,
            flags=(f"steps:{len(chosen)}/{len(texts)}",),
        )

    def _chosen(self, ask: SupportAsk, record: Record, texts: Sequence[str], budget: int) -> list[int]:
        from rebind.memory.encoders import encoder
        from rebind.memory.osu.annotations import annotate_record
        from rebind.memory.osu.trajectory import on_grid, trajectory

        encode = self._encode or encoder(_ENCODER).encode
        vectors = encode([*texts, f"{ask.goal}\n{ask.first_observation}"])
        costs = [max(1, count_text(ask.writer, ask.writer_name, text)) for text in texts]
        notes = [annotated.note for annotated in annotate_record(record, texts)]
        memory = self.remember(trajectory(vectors[:-1], costs, notes))
        return sorted(memory.retrieve(on_grid(vectors[-1]), budget).tolist())
