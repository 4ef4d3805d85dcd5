import type { ReactElement } from "react";
import { DetailHead } from "./DetailHead";
import { ErrorState, Loading } from "./states";

interface Props<T> {
  query: { data: T | undefined; error: unknown; isPending: boolean; refetch: () => unknown };
  list: { to: string; label: string };
  id: string;
  children: (data: T) => ReactElement;
}

/** Detail shows the page of one resource when it is loaded, or the error. */
export function Detail<T>({ query, list, id, children }: Props<T>) {
  if (query.isPending) return <Loading />;
  if (query.data !== undefined) return children(query.data);
  return (
    <main className="screen">
      <DetailHead list={list} title={id} />
      <ErrorState error={query.error} retry={query.refetch} />
    </main>
  );
}
