/** localPath returns where to go after signing in: never to another site. */
export function localPath(next: string | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next) || next.startsWith("/sign-in")) return "/";
  return next;
}

/** oidcOffered reports whether the server offers OpenID Connect. */
export async function oidcOffered(): Promise<boolean> {
  const response = await fetch("/auth/methods", { headers: { Accept: "application/json" } });
  if (!response.ok) return false;
  const body = await response.json();
  return Boolean(body?.oidc ?? body?.data?.attributes?.oidc);
}

/** sentenceFor explains the code that a failed sign-in by OpenID Connect comes back with. */
export function sentenceFor(code: string | undefined): string {
  const sentences: Record<string, string> = {
    expired: "The sign-in took too long. Please try again.",
    forbidden: "You have no access to this account. Ask an administrator to invite you.",
    unavailable: "The sign-in service cannot be reached. Please try again in a moment.",
  };
  return sentences[code ?? ""] ?? "The sign-in failed. Please try again.";
}
