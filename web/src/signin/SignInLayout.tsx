import { Paper, Title } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./SignInLayout.module.css";

/** SignInLayout is the frame of the pages before the console: sign-in, invitations and reset links. */
export function SignInLayout({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={styles.page}>
      <Paper className={styles.card} withBorder>
        <img src="/favicon.svg" alt="" width="36" height="36" />
        <Title order={1} size="h3" mt="sm" mb="md">
          {title}
        </Title>
        {children}
      </Paper>
    </main>
  );
}
