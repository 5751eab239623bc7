"""How Hypothesis runs here: the same examples every time, and none timed.

`HYPOTHESIS_PROFILE=wide` draws fresh and many; run it after a change to a rule.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],  # two shared cores say little about a strategy
)
settings.register_profile(
    "wide",
    settings.get_profile("steady"),
    derandomize=False,
    max_examples=500,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
