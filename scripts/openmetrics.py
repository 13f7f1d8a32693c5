"""Reads metrics with both parsers of Prometheus's own client, which have to agree; the first is the strict one."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as older


def samples(parse, text):
    found = {}
    for family in parse(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in found, f"{name} is there twice"
            found[name] = float(sample.value)
    return found


text = sys.stdin.read()
told = samples(strict, text)
assert told == samples(older, text), "the two parsers read different things"
print(json.dumps(told))
