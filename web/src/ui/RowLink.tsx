import { useNavigate, useSearch } from "@tanstack/react-router";
import type { MouseEvent, ReactNode } from "react";

interface Props {
  to: "/flags/$id" | "/loggers/$id" | "/log-groups/$id";
  id: string;
  className?: string;
  title?: string;
  children: ReactNode;
}

/** RowLink leads from a row to its resource. It is lighter than the router's Link, because a list renders dozens of them at once. */
export function RowLink({ to, id, className = "row-link", title, children }: Props) {
  const navigate = useNavigate();
  const { env } = useSearch({ strict: false }) as { env?: string };
  const onClick = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser opens a new tab
    event.preventDefault();
    void navigate({ to, params: { id } });
  };
  const href = to.replace("$id", encodeURIComponent(id)) + (env ? `?env=${encodeURIComponent(env)}` : "");
  return (
    <a href={href} tabIndex={-1} className={className} title={title} onClick={onClick}>
      {children}
    </a>
  );
}
