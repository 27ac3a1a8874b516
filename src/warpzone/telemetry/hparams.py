"""Options of a run for TensorBoard's HParams page, which compares runs by their options."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

SHOWN_METRICS = (
    "rollout/clear_rate",
    "episode/return_mean",
    "episode/progress_best",
    "run/steps",
    "run/elapsed",
    "speed/steps_per_second",
)
"""Metrics that the page shows beside the options; it would otherwise show all of them."""


def start_values(options: Mapping[str, object]) -> list[Any]:
    """Returns the summary values that open a session: what is compared, and the options.

    Args:
        options: Options by their dotted names. What is not a number, a word or a truth value is
            written as text, and None is left out.
    """
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    start = plugin_data_pb2.SessionStartInfo(start_time_secs=time.time())
    infos = []
    for name, value in sorted(options.items()):
        if value is None:
            continue
        kind, field, shown = _typed(value)
        setattr(start.hparams[name], field, shown)
        infos.append(api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(kind)))
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in SHOWN_METRICS]
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)
    return [
        _value(metadata.EXPERIMENT_TAG, experiment=experiment),
        _value(metadata.SESSION_START_INFO_TAG, session_start_info=start),
    ]


def end_value() -> Any:
    """Returns the summary value that closes a session."""
    from tensorboard.plugins.hparams import metadata, plugin_data_pb2

    end = plugin_data_pb2.SessionEndInfo(end_time_secs=time.time())
    return _value(metadata.SESSION_END_INFO_TAG, session_end_info=end)


def _typed(value: object) -> tuple[str, str, object]:
    if isinstance(value, bool):
        return "DATA_TYPE_BOOL", "bool_value", value
    if isinstance(value, int | float):
        return "DATA_TYPE_FLOAT64", "number_value", float(value)
    if isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    return "DATA_TYPE_STRING", "string_value", str(value)


def _value(tag: str, **content: Any) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import metadata, plugin_data_pb2

    data = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
    # The page reads only the metadata, but TensorBoard ignores a value without a tensor.
    return Summary.Value(
        tag=tag,
        metadata=metadata.create_summary_metadata(data),
        tensor=metadata.NULL_TENSOR,
    )
