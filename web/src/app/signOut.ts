import { asApiError, send } from "../api/client";
import { drafts } from "../ui/draft";
import { sayFailure } from "../ui/messages";

/**
 * signOut ends the session and loads the page of the sign-in from the server. Nothing of the session stays in memory, and the frame
 * is not drawn once more without a user.
 */
export async function signOut(): Promise<void> {
  try {
    await send("DELETE", "/api/v1/sessions/current", { anonymous: true });
  } catch (problem) {
    const failure = asApiError(problem);
    if (failure.status !== 401) return sayFailure("Sign out", failure); // 401: the session has ended already
  }
  drafts.clear();
  window.location.assign("/sign-in");
}
