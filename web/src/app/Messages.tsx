import { useNotifications } from "@mantine/notifications";
import { lazy, Suspense, useRef } from "react";

const MessageList = lazy(() => import("./MessageList"));

/** Messages shows the messages of writes; the list is loaded with the first message. */
export function Messages() {
  const { notifications } = useNotifications();
  const isNeeded = useRef(false);
  if (notifications.length > 0) isNeeded.current = true;
  return <Suspense>{isNeeded.current && <MessageList />}</Suspense>;
}
