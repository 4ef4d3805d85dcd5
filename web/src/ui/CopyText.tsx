import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { copyText } from "./copy";

/** CopyText copies a text and says so for a moment. */
export function CopyText({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button size="compact-xs" variant="default" onClick={() => void copyText(text).then(setCopied)} className="copy">
      {copied ? "Copied" : label}
    </Button>
  );
}
