import { Table } from "@mantine/core";
import type { ReactElement, ReactNode } from "react";
import type { Kinds } from "../api/kinds";
import { useSources } from "../api/queries";
import { RelativeTime } from "./RelativeTime";
import { ErrorState, Loading } from "./states";

type Kind = "flag_source" | "logger_source";

interface Props<K extends Kind> {
  kind: K;
  of: string;
  /** columns are shown between Environment and Last seen. */
  columns: Record<string, (source: Kinds[K]) => ReactNode>;
  service?: (name: string) => ReactNode;
  /** children is shown when there are no sources. */
  children: ReactElement;
}

/** Sources lists the services that report a flag or a logger, with the reported members. */
export function Sources<K extends Kind>({ kind, of, columns, service = (name) => name, children }: Props<K>) {
  const { data, error, isPending, refetch } = useSources(kind, of);
  if (isPending) return <Loading rows={3} />;
  if (!data) return <ErrorState error={error} retry={refetch} />;
  if (data.data.length === 0) return children;
  return (
    <Table.ScrollContainer type="native" tabIndex={0} minWidth={500}>
      <Table verticalSpacing={5} fz="sm">
        <Table.Thead>
          <Table.Tr>
            {["Service", "Environment", ...Object.keys(columns), "Last seen"].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.data.map(({ id, attributes }) => (
            <Table.Tr key={id}>
              <Table.Td>{service(attributes.service)}</Table.Td>
              <Table.Td>{attributes.environment}</Table.Td>
              {Object.entries(columns).map(([title, cell]) => (
                <Table.Td key={title}>{cell(attributes)}</Table.Td>
              ))}
              <Table.Td>
                <RelativeTime at={attributes.last_seen} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
