"""Feature flags, log levels and configuration of a Signalbox server in a running Python service:

    import signalbox

    box = signalbox.start()  # SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT, SIGNALBOX_SERVICE
    checkout = box.boolean("checkout-v2", default=False)
    signalbox.logging.install(box)
    settings = box.config("checkout", Checkout)

    with signalbox.context(user={"key": "alice", "plan": "pro"}):
        if checkout():
            log.debug("new checkout, timeout %s", settings.timeout_ms)

Flags are evaluated in the process. Nothing here waits for the server, and reading never raises an error.
"""

from . import errors as errors
from . import logging as logging
from ._box import Box as Box
from ._box import start as start
from ._box import static as static
from ._config import Config as Config
from ._context import context as context
from ._context import set_context as set_context
from ._flags import Detail as Detail
from ._flags import Flag as Flag
from ._levels import Level as Level
from ._loggers import Adapter as Adapter
from ._state import State as State
from ._state import Status as Status
from ._sync import Timing as Timing
from ._version import __version__ as __version__
