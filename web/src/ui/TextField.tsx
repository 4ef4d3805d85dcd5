import { Textarea, type TextareaProps } from "@mantine/core";
import type { KeyboardEvent } from "react";

// submit presses the submit button of the form, as Enter in a field of one line does; a disabled button refuses.
function submit(event: KeyboardEvent<HTMLTextAreaElement>) {
  const { form } = event.currentTarget;
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || !form) return;
  event.preventDefault();
  form.querySelector<HTMLButtonElement>("button[type=submit]")?.click();
}

/** TextField edits a text of one or many lines. It grows with the text, so that the field stays the same while people type. */
export function TextField({ description = "Shift+Enter starts a new line.", ...props }: TextareaProps) {
  return (
    <Textarea
      autosize
      minRows={1}
      maxRows={12}
      description={description}
      inputWrapperOrder={["label", "input", "description", "error"]}
      onKeyDown={submit}
      {...props}
    />
  );
}
