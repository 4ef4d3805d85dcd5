import "@mantine/notifications/styles.css";
import { Notifications } from "@mantine/notifications";

/** MessageList shows recent messages in a corner. */
export default function MessageList() {
  return <Notifications position="bottom-right" limit={4} />;
}
