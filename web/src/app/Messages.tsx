import { useNotifications } from "@mantine/notifications";
import { lazy, Suspense, useRef } from "react";

const MessageList = lazy(() => import("./MessageList"));

/** Messages shows what writes have to say; what shows them is loaded with the first. */
export function Messages() {
  const { notifications } = useNotifications();
  const isNeeded = useRef(false);
  if (notifications.length > 0) isNeeded.current = true;
  return <Suspense>{isNeeded.current && <MessageList />}</Suspense>;
}
