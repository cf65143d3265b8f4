"""How likely a skill is to be valid for a request: a logistic model over traits, fitted on the induction split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PENALTY = 0.5
"""Weight of half the squared coefficients, traits scaled to standard deviation 1: it keeps them finite where a trait
tells all (ours)."""


@dataclass(frozen=True)
class Odds:
    """A fitted model. `centre` and `scale` (traits,) of the traits it was fitted to, `weights` (traits,), `bias`."""

    centre: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float

    def of(self, traits: Floats) -> Floats:
        """Probability of each row of traits (skills, traits): (skills,), between 0 and 1."""
        from scipy.special import expit

        scaled = (traits - np.array(self.centre)) / np.array(self.scale)
        found: Floats = expit(scaled @ np.array(self.weights) + self.bias)
        return found


def fit_odds(traits: Floats, valid: NDArray[np.bool_]) -> Odds:
    """Most likely model under a Gaussian prior on the weights (ridge penalty `PENALTY`; the bias is free but for a
    slight pull to even odds, which keeps it finite where all were valid or none).

    Args:
        traits: (pairs, traits), at least one pair.
        valid: (pairs,), whether the skill was valid.
    """
    centre, scale = traits.mean(axis=0), traits.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    weights = _minimised((traits - centre) / scale, valid)
    return Odds(tuple(centre.tolist()), tuple(scale.tolist()), tuple(weights[1:].tolist()), float(weights[0]))


def left_out(traits: Sequence[Floats], valid: Sequence[Sequence[bool | None]]) -> list[Floats]:
    """For each request the probabilities of its skills by a model fitted to all other requests.

    Args:
        traits: one (skills, traits) a request.
        valid: one list a request; None where it is not known, which is not fitted to.
    """
    found: list[Floats] = []
    for out in range(len(traits)):
        others = [n for n in range(len(traits)) if n != out]
        model = fitted([traits[n] for n in others], [valid[n] for n in others])
        found.append(np.zeros(len(traits[out])) if model is None else model.of(traits[out]))
    return found


def fitted(traits: Sequence[Floats], valid: Sequence[Sequence[bool | None]]) -> Odds | None:
    """The model of some requests (see `left_out`); None where nothing is known of any."""
    rows = [row for found, held in zip(traits, valid, strict=True) for row, one in zip(found, held, strict=True)
            if one is not None]  # fmt: skip
    known = [one for held in valid for one in held if one is not None]
    return fit_odds(np.array(rows), np.array(known)) if rows else None


def _minimised(scaled: Floats, valid: NDArray[np.bool_]) -> Floats:
    from scipy.optimize import minimize
    from scipy.special import expit

    inputs = np.column_stack([np.ones(len(scaled)), scaled])
    pull = np.array([0.1, *[PENALTY] * scaled.shape[1]])
    signs = np.where(valid, 1.0, -1.0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = inputs @ weights
        slope = inputs.T @ (expit(margins) - valid) + pull * weights
        return float(np.logaddexp(0.0, -signs * margins).sum() + (pull * weights**2).sum() / 2), slope

    found: Floats = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="L-BFGS-B").x
    return found
