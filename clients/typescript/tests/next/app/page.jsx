import { withContext } from "@signalbox/client";
import { checkout } from "./signalbox";

export const dynamic = "force-dynamic";

export default function Page() {
  return <p>{withContext({ user: { key: "bob", plan: "pro" } }, checkout) ? "new" : "old"}</p>;
}
