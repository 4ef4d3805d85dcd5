import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { GoneNotice } from "./GoneNotice";

interface Head {
  list: { to: string; label: string };
  title: string;
  subtitle?: ReactNode;
  children?: ReactNode;
}

/** DetailHead is the header of a resource's page: the link to the list, its id, its name, and its actions. It says if the resource was deleted. */
export function DetailHead({ list, title, subtitle, children }: Head) {
  return (
    <>
      <header className="screen-head">
        <Link to={list.to as never}>{list.label}</Link>
        <span className="muted" aria-hidden="true">
          /
        </span>
        <h1 className="mono ellipsis">{title}</h1>
        {subtitle && <span className="muted subtitle">{subtitle}</span>}
        <span className="spring" />
        {children}
      </header>
      <GoneNotice />
    </>
  );
}
