import { Code, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { CopyText } from "./CopyText";

/** ShownOnce shows a secret that the server never shows again. */
export function ShownOnce({ label, secret, children }: { label: string; secret: string; children?: ReactNode }) {
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => shown.current?.focus(), []); // the focused form is gone
  return (
    <Stack gap="xs" className="panel" ref={shown} tabIndex={-1} role="status" aria-label={label}>
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {label}
        </Text>
        <CopyText text={secret} />
      </Group>
      <Code block tabIndex={0} style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
        {secret}
      </Code>
      <Text size="sm" className="muted" component="div">
        {children ?? "It is shown only now. Store it with your secrets."}
      </Text>
    </Stack>
  );
}
