import { type FormEvent, useState } from "react";
import { type ApiError, asApiError } from "../api/client";
import { useOnce } from "./useOnce";

/** useSubmit sends a form once, and keeps the error for the form to show beside its members. */
export function useSubmit(send: () => Promise<unknown>) {
  const [failure, setFailure] = useState<ApiError>();
  const [busy, run] = useOnce(async () => {
    setFailure(undefined);
    try {
      await send();
    } catch (problem) {
      setFailure(asApiError(problem));
    }
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    return run();
  };
  return { submit, failure, busy };
}
