import "@mantine/notifications/styles.css";
import { Notifications } from "@mantine/notifications";

/** MessageList shows the messages of a while in a corner. */
export default function MessageList() {
  return <Notifications position="bottom-right" limit={4} />;
}
