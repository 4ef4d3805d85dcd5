import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useSetSearch } from "../app/focus";
import { IconSearch } from "./icons";

/** SearchBox is the text that a list is searched for; it is in the address, and / leads to it. */
export function SearchBox({ label }: { label: string }) {
  const { q = "" } = useSearch({ strict: false }) as { q?: string };
  const setSearch = useSetSearch();
  const [text, setText] = useState(q);
  const sent = useRef(q);
  const send = useDebouncedCallback((value: string) => {
    sent.current = value;
    setSearch({ q: value || undefined });
  }, 120);
  useEffect(() => {
    if (q !== sent.current) setText(q); // the address was changed by something else
    sent.current = q;
  }, [q]);
  return (
    <TextInput
      size="xs"
      data-search
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} aria-hidden="true" />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        send(event.currentTarget.value);
      }}
    />
  );
}
