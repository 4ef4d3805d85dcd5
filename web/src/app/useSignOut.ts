import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { asApiError, send } from "../api/client";
import { drafts } from "../ui/draft";
import { sayFailure } from "../ui/messages";

/** useSignOut returns a function that ends the session and leads to the sign-in. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  return async () => {
    try {
      await send("DELETE", "/api/v1/sessions/current", { anonymous: true });
    } catch (problem) {
      const failure = asApiError(problem);
      if (failure.status !== 401) return sayFailure("Sign out", failure); // 401: the session has ended already
    }
    queries.clear();
    drafts.clear();
    await router.navigate({ to: "/sign-in" });
  };
}
