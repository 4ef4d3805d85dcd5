import { useDebouncedCallback } from "@mantine/hooks";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useSetSearch } from "../app/focus";
import { IconSearch } from "./icons";

interface Props {
  label: string;
  placeholder?: string;
  /** name is the text's in the address. */
  name?: string;
}

/** pause is how long typing must rest before the list is searched: shorter than between the keys of most people. */
const pause = 60;

/** SearchBox is the text that a list is searched for; it is in the address, and / leads to the one called q. */
export function SearchBox({ label, placeholder = label, name = "q" }: Props) {
  const { [name]: q = "" } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const setSearch = useSetSearch();
  const [text, setText] = useState(q);
  const sent = useRef(q);
  const send = useDebouncedCallback((value: string) => {
    sent.current = value;
    setSearch({ [name]: value || undefined });
  }, pause);
  useEffect(() => {
    if (q !== sent.current) setText(q); // the address was changed by something else
    sent.current = q;
  }, [q]);
  return (
    <span className="field-box">
      <IconSearch size={14} aria-hidden="true" />
      <input
        className="field"
        data-search={name === "q" || undefined}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          send(event.currentTarget.value);
        }}
      />
    </span>
  );
}
