"""Runs Python's provider. It does the same as provider.go."""

import json
import logging
import sys
import time

from openfeature import api
from openfeature.contrib.provider.flagd import FlagdProvider
from openfeature.contrib.provider.flagd.config import ResolverType
from openfeature.evaluation_context import EvaluationContext

logging.disable(logging.CRITICAL)
host, port, selector, cases = sys.argv[1:]
api.set_provider_and_wait(
    FlagdProvider(
        resolver_type=ResolverType.IN_PROCESS, host=host, port=int(port), selector=selector, deadline_ms=30_000
    )
)
client = api.get_client()
ask = {
    "BOOLEAN": lambda key, at: client.get_boolean_value(key, False, at),
    "STRING": lambda key, at: client.get_string_value(key, "?", at),
    "NUMERIC": lambda key, at: client.get_float_value(key, -99.0, at),
    "JSON": lambda key, at: client.get_object_value(key, {}, at),
}
with open(cases) as file:
    asked = json.load(file)
found = []
for given in asked["contexts"]:
    at = EvaluationContext(given.pop("targetingKey", None), given)
    found.append({key: ask[of.removesuffix(" SPLIT")](key, at) for key, of in asked["flags"].items()})
print(json.dumps(found), flush=True)
last = None
while True:
    now = client.get_float_value("clock", -1.0)
    if now != last:
        last = now
        print(int(now), flush=True)
    time.sleep(0.002)
