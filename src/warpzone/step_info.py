"""Infos of vector environments with same-step autoreset."""

from __future__ import annotations

from typing import Any


def step_info(info: dict[str, Any]) -> dict[str, Any]:
    """Returns the info of the step just taken.

    With same-step autoreset, the info of an environment whose episode ended belongs to the new
    episode, and `info["final_info"]` has the values at the end of the old one (Gymnasium's
    convention). This function puts those values back, so that every field describes the step just
    taken.

    Args:
        info: Info that a vector environment's `step` returned; it is not modified.
    """
    if "final_info" not in info:
        return info
    ended, final = info["_final_info"], info["final_info"]
    merged = dict(info)
    for name, values in final.items():
        merged[name] = info[name].copy()
        merged[name][ended] = values[ended]
    return merged
