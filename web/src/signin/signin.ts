/** localPath returns the path to open after signing in; it never leads to another site. */
export function localPath(next: string | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next) || next.startsWith("/sign-in")) return "/";
  return next;
}

/** oidcOffered reports whether the server offers OpenID Connect. */
export async function oidcOffered(): Promise<boolean> {
  const response = await fetch("/auth/methods", { headers: { Accept: "application/json" } });
  if (!response.ok) return false;
  const body: { meta?: { methods?: string[] } } = await response.json();
  return body.meta?.methods?.includes("oidc") ?? false;
}

/** sentenceFor explains the error code of a failed sign-in by OpenID Connect. */
export function sentenceFor(code: string | undefined): string {
  const sentences: Record<string, string> = {
    state: "The sign-in took too long, or was begun in another tab. Please try again.",
    canceled: "You did not sign in at the provider.",
    provider: "The sign-in service did not confirm who you are. Please try again.",
    unavailable: "The sign-in service cannot be reached. Please try again in a moment.",
    email: "The sign-in service did not send your e-mail address. Ask an administrator.",
    email_unverified: "Your e-mail address is not verified. Verify it at the sign-in service, then try again.",
    domain: "E-mail addresses of your domain may not sign in here.",
    no_role: "You have no access yet. Ask an administrator for a role, or use the link of your invitation.",
    conflict: "Your e-mail address belongs to another user of this server. Ask an administrator.",
  };
  return sentences[code ?? ""] ?? "The sign-in failed. Please try again.";
}
