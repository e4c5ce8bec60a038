"""Where the threshold of refusal lies, and what it does on this base."""

from __future__ import annotations

from pipeline.answer.refusal import threshold_for
from pipeline.calibrate import STEPS, is_calibrated
from pipeline.health.finding import Finding, Say
from pipeline.index import Index
from pipeline.settings import SearchSettings

__all__ = ["check_refusal"]


def check_refusal(index: Index, search: SearchSettings, say: Say) -> list[Finding]:
    """The threshold in force, and the shares it refused of the questions it was calibrated with."""
    if search.refusal_threshold is not None:
        return [Finding(say("refusal"), "ok", say("refusal_fixed", threshold=search.refusal_threshold))]
    threshold = f"{threshold_for(search.strictness):.2f}"
    shown = {"threshold": threshold, "strictness": search.strictness}
    calibration = index.calibration
    if calibration is None or not is_calibrated(index):
        detail = say("refusal_uncalibrated", **shown)
        return [Finding(say("refusal"), "warning", detail, "otvet index")]
    place = STEPS.index(search.strictness)
    shares = (calibration.refused_own, calibration.refused_foreign, calibration.refused_missing)
    if not all(shares):
        return [Finding(say("refusal"), "ok", say("refusal_too_small", **shown))]
    own, foreign, missing = (f"{100 * share[place]:.0f}" for share in shares)
    detail = say(
        "refusal_detail",
        **shown,
        shift=f"{calibration.shift:+.1f}",
        own=own,
        own_count=calibration.own,
        foreign=foreign,
        foreign_count=calibration.foreign,
        missing=missing,
    )
    return [Finding(say("refusal"), "ok", detail)]
