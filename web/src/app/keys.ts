import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { places } from "./places";

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** useKeys listens for the keys that work everywhere; KeyHelp lists them. */
export function useKeys({ palette, help }: { palette: () => void; help: () => void }) {
  const navigate = useNavigate();
  const leading = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        palette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.timeStamp - leading.current < 1000) {
        leading.current = Number.NEGATIVE_INFINITY;
        const place = places.find(({ keys }) => keys === event.key);
        if (place) void navigate({ to: place.to });
        return;
      }
      if (event.key === "g") leading.current = event.timeStamp;
      if (event.key === "?") help();
      if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("input[data-search]")?.focus();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, palette, help]);
}
