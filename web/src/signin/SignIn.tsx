import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { SignInForm } from "./SignInForm";
import { SignInLayout } from "./SignInLayout";
import { localPath, sentenceFor } from "./signin";

/** SignIn is the sign-in page. Afterward it opens the page that the person came from. */
export default function SignIn() {
  const { next, error } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const queries = useQueryClient();
  const done = () => {
    queries.clear(); // it has the errors of requests that were sent before the sign-in
    router.history.push(localPath(next));
  };
  return (
    <SignInLayout title="Sign in to Signalbox">
      <SignInForm next={localPath(next)} problem={error && sentenceFor(error)} onDone={done} />
    </SignInLayout>
  );
}
