/** Typeahead collects the text that is typed or pasted between the key that opens a field and the moment when the field is shown. */
export class Typeahead {
  private text = "";
  private stop: (() => void) | undefined;

  /** start begins to collect text, which then reaches nothing else. */
  start(): void {
    this.end();
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Backspace") this.text = this.text.slice(0, -1);
      else if (event.key.length === 1) this.text += event.key;
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const onPaste = (event: ClipboardEvent) => {
      this.text += event.clipboardData?.getData("text/plain") ?? "";
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    window.addEventListener("keydown", onKey, { capture: true });
    window.addEventListener("paste", onPaste, { capture: true });
    this.stop = () => {
      window.removeEventListener("keydown", onKey, { capture: true });
      window.removeEventListener("paste", onPaste, { capture: true });
    };
  }

  /** end returns the collected text, and lets keys pass again. */
  end(): string {
    this.stop?.();
    this.stop = undefined;
    const { text } = this;
    this.text = "";
    return text;
  }
}
