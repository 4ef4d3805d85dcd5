// A page that follows flags of Signalbox.

import { startBrowser } from "@signalbox/client/browser";
import { SignalboxProvider } from "@signalbox/react";
import { createRoot } from "react-dom/client";
import { Shop } from "./shop";

const box = startBrowser({
  url: import.meta.env.VITE_SIGNALBOX_URL,
  key: import.meta.env.VITE_SIGNALBOX_KEY, // a key for browsers, which is not a secret
  context: { targetingKey: "alice", plan: "pro" },
  storage: localStorage,
});

createRoot(document.getElementById("shop") as HTMLElement).render(
  <SignalboxProvider box={box}>
    <Shop />
  </SignalboxProvider>,
);
