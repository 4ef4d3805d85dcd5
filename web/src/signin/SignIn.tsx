import { useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { SignInForm } from "./SignInForm";
import { SignInLayout } from "./SignInLayout";
import { localPath, sentenceFor } from "./signin";

/** SignIn is the page that asks who somebody is, and then opens the page that they wanted. */
export default function SignIn() {
  const { next, error } = useSearch({ from: "/sign-in" });
  const router = useRouter();
  const queries = useQueryClient();
  const done = () => {
    queries.clear(); // it has refusals of requests before the sign-in
    router.history.push(localPath(next));
  };
  return (
    <SignInLayout title="Sign in to Signalbox">
      <SignInForm next={localPath(next)} problem={error && sentenceFor(error)} onDone={done} />
    </SignInLayout>
  );
}
