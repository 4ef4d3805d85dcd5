import { say } from "./messages";

/** copyText copies a text and returns whether it could. Without HTTPS browsers have no clipboard API, so it copies the selection of a hidden field. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const isCopied = copySelected(text);
    if (!isCopied) say("The browser does not allow copying here. Select the text and copy it.");
    return isCopied;
  }
}

function copySelected(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  // Inside the dialog, because a dialog keeps the focus in itself.
  (before?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isCopied;
}
