"""Signalbox's provider for the OpenFeature SDK (the extra `openfeature` of this package). Flags are evaluated in the process:

    api.set_provider_and_wait(signalbox.openfeature.SignalboxProvider(box))

The targeting key is the key of the user. An object in the evaluation context is a context whose type is the member's name;
other members are attributes of the user. Contexts of `signalbox.context` apply too. Evaluating a flag declares it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from openfeature.event import ProviderEventDetails
from openfeature.exception import ErrorCode, ProviderFatalError, ProviderNotReadyError
from openfeature.flag_evaluation import FlagResolutionDetails, Reason
from openfeature.provider import AbstractProvider, Metadata

from ._flags import FLAG_NOT_FOUND, PARSE_ERROR, Detail
from ._state import State, Status

if TYPE_CHECKING:
    from openfeature.evaluation_context import EvaluationContext

    from ._box import Box

__all__ = ["SignalboxProvider"]

T = TypeVar("T")

#: How many seconds after its start the provider sends a state that is not LIVE.
_AFTER_READY = 0.1


class SignalboxProvider(AbstractProvider):
    """Evaluates the flags of a box. The caller owns the box: shutting the provider down does not close it."""

    def __init__(self, box: Box, ready_timeout: float = 10) -> None:
        super().__init__()
        self._box = box
        self._timeout = ready_timeout
        self._stop: list[Callable[[], None]] = []

    def get_metadata(self) -> Metadata:
        return Metadata(name="Signalbox")

    def get_provider_hooks(self) -> list[Any]:
        return []

    def initialize(self, evaluation_context: EvaluationContext) -> None:  # noqa: ARG002
        """Waits until the box has the values of the server. If the server cannot be reached or refuses the key, the last known
        values do, if there are any; the provider is then stale or has an error."""
        self._box.wait_until(self._is_answered, self._timeout)
        if not self._stop:  # also if the start fails, because the box keeps trying
            self._stop = [self._box.on_state(self._state_changed), self._box.on_flag_change(self._flags_changed)]
        state = self._box.state
        if state.status is Status.LIVE:
            return
        if state.seq == 0:
            raise (ProviderFatalError if state.status is Status.REFUSED else ProviderNotReadyError)(str(state))
        # The SDK sets the status to ready when this method returns.
        later = threading.Timer(_AFTER_READY, lambda: self._state_changed(self._box.state))
        later.daemon = True
        self._stop.append(later.cancel)
        with contextlib.suppress(RuntimeError):  # there are too many threads
            later.start()

    def _is_answered(self, state: State) -> bool:
        """Reports whether the server has answered, or has failed and the last known values must do."""
        if state.status is Status.STALE:
            return state.seq > 0 or self._box.closed
        return state.status is not Status.STARTING

    def shutdown(self) -> None:
        """Ends the events. The box stays open."""
        for stop in self._stop:
            stop()
        self._stop = []

    def _state_changed(self, state: State) -> None:
        details = ProviderEventDetails(message=str(state))
        if state.status is Status.LIVE:
            self.emit_provider_ready(details)
        elif state.status is Status.REFUSED:
            self.emit_provider_error(ProviderEventDetails(message=str(state), error_code=ErrorCode.GENERAL))
        else:
            self.emit_provider_stale(details)

    def _flags_changed(self, keys: list[str]) -> None:
        self.emit_provider_configuration_changed(ProviderEventDetails(flags_changed=keys))

    def resolve_boolean_details(
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        return self._resolved(self._box.boolean(flag_key, default_value).detail(**contexts_of(evaluation_context)))

    def resolve_string_details(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        return self._resolved(self._box.string(flag_key, default_value).detail(**contexts_of(evaluation_context)))

    def resolve_integer_details(
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        return self._resolved(self._box.integer(flag_key, default_value).detail(**contexts_of(evaluation_context)))

    def resolve_float_details(
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        found = self._box.number(flag_key, default_value).detail(**contexts_of(evaluation_context))
        return self._resolved(dataclasses.replace(found, value=float(found.value)))

    def resolve_object_details(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Any]:
        return self._resolved(self._box.json(flag_key, default_value).detail(**contexts_of(evaluation_context)))

    def _resolved(self, found: Detail[T]) -> FlagResolutionDetails[T]:
        metadata = {"flagSetId": self._box.environment}
        if not found.code:
            return FlagResolutionDetails(found.value, reason=found.reason, variant=found.variant, flag_metadata=metadata)
        code, message = self._error(found.code)
        return FlagResolutionDetails(
            found.value, error_code=code, error_message=message, reason=Reason.ERROR, flag_metadata=metadata
        )

    def _error(self, code: str) -> tuple[ErrorCode, str]:
        state = self._box.state
        if code == FLAG_NOT_FOUND and state.seq == 0 and state.status is not Status.LIVE:
            return ErrorCode.PROVIDER_NOT_READY, f"nothing is known yet: {state}"
        if code == FLAG_NOT_FOUND:
            return ErrorCode.FLAG_NOT_FOUND, "there is no such flag"
        if code == PARSE_ERROR:
            return ErrorCode.PARSE_ERROR, "the flag has no usable default"
        return ErrorCode.TYPE_MISMATCH, "the flag has another type"


def contexts_of(evaluation_context: EvaluationContext | None) -> dict[str, Any]:
    """Returns the contexts of an evaluation. Members of "user" win over the targeting key and plain attributes."""
    if evaluation_context is None:
        return {}
    user: dict[str, Any] = {}
    contexts: dict[str, Any] = {}
    if evaluation_context.targeting_key:
        user["key"] = evaluation_context.targeting_key
    for name, value in evaluation_context.attributes.items():
        if not isinstance(value, Mapping):
            user[name] = value
        elif name != "user":
            contexts[name] = value
    given = evaluation_context.attributes.get("user")
    if isinstance(given, Mapping):
        user.update(given)
    if user:
        contexts["user"] = user
    return contexts
