import { Button, CopyButton } from "@mantine/core";

/** CopyText copies a text and says so for a moment. */
export function CopyText({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <CopyButton value={text} timeout={1500}>
      {({ copied, copy }) => (
        <Button size="compact-xs" variant="default" onClick={copy} className="copy">
          {copied ? "Copied" : label}
        </Button>
      )}
    </CopyButton>
  );
}
