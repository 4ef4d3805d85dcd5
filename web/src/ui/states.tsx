import { Button, Code, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { asApiError } from "../api/client";
import { CopyText } from "./CopyText";

interface Empty {
  title: string;
  children?: ReactNode;
  code?: string;
  /** action is the button of the first action. */
  action?: ReactNode;
}

/** EmptyState says why a list is empty and how to fill it: by a first action, or by code. */
export function EmptyState({ title, children, code, action }: Empty) {
  return (
    <Stack gap="sm" className="empty">
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" className="muted" component="div">
          {children}
        </Text>
      )}
      {action && <div>{action}</div>}
      {code && (
        <div className="code-block">
          <Code block tabIndex={0}>
            {code}
          </Code>
          <CopyText text={code} />
        </div>
      )}
    </Stack>
  );
}

/** ErrorState shows an error with its request id, which the server's log has too. */
export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const failure = asApiError(error);
  return (
    <div className="error" role="alert">
      <Text size="sm" fw={600}>
        {failure.code === "offline" ? "The server cannot be reached" : "Something went wrong"}
      </Text>
      <Text size="sm">{failure.message}</Text>
      <Group mt="xs" gap="sm">
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
        {failure.requestId && (
          <Text size="xs" className="muted">
            Request {failure.requestId}
          </Text>
        )}
      </Group>
    </div>
  );
}

/** Loading stands for rows that are loading. */
export function Loading({ rows = 8 }: { rows?: number }) {
  return (
    <div className="skeleton" aria-busy="true" aria-label="Loading" role="status">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <span key={index} style={{ width: `${92 - ((index * 17) % 40)}%` }} />
      ))}
    </div>
  );
}
