import { Text } from "@mantine/core";
import { SignInForm } from "../signin/SignInForm";
import { Dialog } from "../ui/Dialog";

/** SignInAgain shows the sign-in over the page, which keeps the text that was typed. */
export default function SignInAgain({ answer }: { answer: (signedIn: boolean) => void }) {
  return (
    <Dialog
      data-above
      onClose={() => answer(false)}
      title="Your session has ended"
      zIndex={400}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Text size="sm" mb="md">
        Sign in to go on. What you typed is kept.
      </Text>
      <SignInForm next={window.location.pathname + window.location.search} onDone={() => answer(true)} />
    </Dialog>
  );
}
