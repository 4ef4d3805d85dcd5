import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { columnsOf, type Environment, useEnvironments } from "../api/session";

/** useFocus returns the environment in focus, to which every screen is limited, and a function that sets it. */
export function useFocus(): [string | undefined, (environment: string | undefined) => void] {
  const { env } = useSearch({ strict: false }) as { env?: string };
  const navigate = useNavigate();
  const set = (environment: string | undefined) =>
    void navigate({ to: ".", search: (old: Record<string, unknown>) => ({ ...old, env: environment ?? "" }), replace: true } as never);
  return [env || undefined, set];
}

/** useColumns returns the environments that a list has columns for, in the user's order. */
export function useColumns(): Environment[] {
  const [focus] = useFocus();
  const environments = useEnvironments();
  return useMemo(() => columnsOf(environments, focus), [environments, focus]);
}

/** useSetSearch changes members of the screen's address; undefined removes one. */
export function useSetSearch() {
  const navigate = useNavigate();
  return (changes: Record<string, string | undefined>) =>
    void navigate({ to: ".", search: (old: Record<string, unknown>) => ({ ...old, ...changes }), replace: true } as never);
}
