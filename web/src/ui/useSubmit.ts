import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../api/client";

/** useSubmit sends a form, and keeps the error for the form to show beside its members. */
export function useSubmit(send: () => Promise<unknown>) {
  const [failure, setFailure] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await send();
    } catch (problem) {
      setFailure(asApiError(problem));
    } finally {
      setBusy(false);
    }
  };
  return { submit, failure, busy };
}
