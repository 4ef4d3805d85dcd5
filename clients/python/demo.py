"""A service of `make demo`: it recommends products to imaginary customers, and logs at the levels that Signalbox sets."""

from __future__ import annotations

import logging
import random
import signal
import sys
import threading

import signalbox

PACE = 0.9  # seconds between two customers
CUSTOMERS = ("alice", "bob", "carol", "dave", "erin", "frank")
LOGGERS = ("recommendations", "recommendations.model", "recommendations.model.loader", "recommendations.cache")


def main() -> None:
    """Serves customers until the demo ends."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(levelname)s %(name)s: %(message)s", datefmt="%H:%M:%S"
    )
    box = signalbox.start(cache=False)
    signalbox.logging.install(box)
    loggers = [logging.getLogger(each) for each in LOGGERS]
    new_checkout = box.boolean("checkout-v2", default=False)
    limit = box.number("cart-limit", default=100)
    ended = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    while not ended.wait(PACE):
        customer = random.choice(CUSTOMERS)
        with signalbox.context(user={"key": customer, "plan": random.choice(("free", "pro"))}):
            log = random.choice(loggers)
            log.debug("Ranking for %s: checkout-v2 %s, at most %d.", customer, new_checkout(), limit())
            log.info("Recommended %d products to %s.", random.randint(3, 9), customer)
    box.close()


if __name__ == "__main__":
    main()
