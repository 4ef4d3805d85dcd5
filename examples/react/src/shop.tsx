import { useFlag, useSignalboxState } from "@signalbox/react";

/** The new checkout for those who have the flag, and a banner. */
export function Shop() {
  const isNew = useFlag("checkout-v2", false);
  const banner = useFlag("banner", "");
  const isOffline = useSignalboxState()?.status === "STALE";
  return (
    <main>
      {banner && <p role="status">{banner}</p>}
      <h1>{isNew ? "New checkout" : "Checkout"}</h1>
      {isOffline && <small>Offline: these are the last known settings.</small>}
    </main>
  );
}
