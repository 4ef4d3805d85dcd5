import { Paper, Title } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./Door.module.css";

/** Door is the page before the console: sign-in and links. */
export function Door({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={styles.door}>
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
