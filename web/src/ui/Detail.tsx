import { type ReactElement, useMemo } from "react";
import { asApiError } from "../api/client";
import { type Kind, kindOn } from "../api/kinds";
import { DetailHead } from "./DetailHead";
import { GoneContext } from "./gone";
import { ErrorState, Loading } from "./states";

interface Props<T> {
  query: { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };
  list: { to: string; label: string };
  id: string;
  /** kind is that of the resource, if it is not the one that the list shows. */
  kind?: Kind;
  children: (data: T) => ReactElement;
}

/** Detail shows the page of one resource when it is loaded, or the error. A page that is open when its resource is deleted says so. */
export function Detail<T>({ query, list, id, kind = kindOn(list.to), children }: Props<T>) {
  const isGone = asApiError(query.error).status === 404;
  const gone = useMemo(() => (isGone ? { kind, id } : undefined), [isGone, kind, id]);
  if (query.isPending) return <Loading />;
  if (query.data !== undefined) return <GoneContext.Provider value={gone}>{children(query.data)}</GoneContext.Provider>;
  return (
    <main className="screen">
      <DetailHead list={list} title={id} />
      <ErrorState error={query.error} retry={query.refetch} />
    </main>
  );
}
