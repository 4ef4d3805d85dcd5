import { useDebouncedCallback } from "@mantine/hooks";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useSetSearch } from "../app/focus";
import { IconSearch } from "./icons";

interface Props {
  label: string;
  placeholder?: string;
  /** name is the parameter in the address. */
  name?: string;
}

/** pause is the time without a key after which the list is searched. */
const pause = 60;

/** SearchBox edits the search text in the address; the key / focuses the box called q. */
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
