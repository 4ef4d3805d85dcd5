import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { columnsOf, type Environment, useEnvironments } from "../api/session";

/** useFocused returns the environments in focus, to which every screen is limited; none means all of them. */
export function useFocused(): [string[], (environments: string[]) => void] {
  const { env } = useSearch({ strict: false }) as { env?: string };
  const navigate = useNavigate();
  const set = (environments: string[]) =>
    void navigate({ to: ".", search: (old: Record<string, unknown>) => ({ ...old, env: environments.join() }), replace: true } as never);
  return [useMemo(() => (env ? env.split(",") : []), [env]), set];
}

/**
 * useFocus returns the environment in focus if there is exactly one, for components that can show only one.
 */
export function useFocus(): string | undefined {
  const [focused] = useFocused();
  return focused.length === 1 ? focused[0] : undefined;
}

/** useColumns returns the environments that a list has columns for, in the user's order. */
export function useColumns(): Environment[] {
  const [focused] = useFocused();
  const environments = useEnvironments();
  return useMemo(() => columnsOf(environments, focused), [environments, focused]);
}

/** useSetSearch changes members of the screen's address; undefined removes one. */
export function useSetSearch() {
  const navigate = useNavigate();
  return (changes: Record<string, string | undefined>) =>
    void navigate({ to: ".", search: (old: Record<string, unknown>) => ({ ...old, ...changes }), replace: true } as never);
}
