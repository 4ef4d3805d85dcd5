import { Badge, Button, Code, Group, Stack, Table, Text } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy } from "react";
import { useOne, useSources } from "../api/queries";
import { useColumns } from "../app/focus";
import { CopyText } from "../ui/CopyText";
import { DetailHead } from "../ui/DetailHead";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { TabbedPanel } from "../ui/TabbedPanel";
import { useWriter } from "../ui/WriteProvider";
import { chipOf, type Flag } from "./flags";
import { ManageFlag } from "./ManageFlag";

const History = lazy(() => import("../ui/History"));
const EnvironmentSettings = lazy(() => import("./EnvironmentSettings"));
const Definition = lazy(() => import("./Definition"));
const Why = lazy(() => import("./Why"));

/** FlagDetail is the page of one flag. */
export default function FlagDetail() {
  const { id } = useParams({ from: "/frame/flags/$id" });
  const { data, error, isPending, refetch } = useOne("flag", id);
  if (isPending) return <Loading />;
  if (!data) {
    return (
      <main className="screen">
        <ErrorState error={error} retry={() => refetch()} />
      </main>
    );
  }
  return <Page flag={data.resource} etag={data.etag} />;
}

function Page({ flag, etag }: { flag: Flag; etag: string }) {
  const environments = useColumns();
  const { name, type, managed, description } = flag.attributes;
  return (
    <main className="screen detail">
      <DetailHead list={{ to: "/flags", label: "Flags" }} title={flag.id} subtitle={name}>
        <Badge variant="light" color="gray" tt="none">
          {type.toLowerCase()}
        </Badge>
        {managed ? <Delete flag={flag} /> : <ManageFlag flag={flag} />}
      </DetailHead>
      {description && <Text size="sm">{description}</Text>}
      {!managed && (
        <Text size="sm" className="muted">
          Discovered: a service declared it with the default {chipOf(flag.attributes.default)}, and serves that until somebody manages it
          here.
        </Text>
      )}
      <TabbedPanel
        label="About this flag"
        tabs={[
          ...environments.map((environment) => ({
            key: environment.id,
            label: <EnvironmentName environment={environment} />,
            body: () => <EnvironmentSettings key={environment.id} flag={flag} etag={etag} environment={environment} />,
          })),
          { key: "values", label: "Values", body: () => <Definition flag={flag} etag={etag} /> },
          { key: "why", label: "Why", body: () => <Why flag={flag} /> },
          { key: "sources", label: "Declared in", body: () => <Sources id={flag.id} /> },
          { key: "history", label: "History", body: () => <History kind="flag" id={flag.id} /> },
          { key: "code", label: "Code", body: () => <CodeTab flag={flag} /> },
        ]}
      />
    </main>
  );
}

function Delete({ flag }: { flag: Flag }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const { environments, last_evaluated } = flag.attributes;
  const count = Object.keys(environments).length;
  const remove = async () => {
    const done = await writer.attempt({
      kind: "flag",
      id: flag.id,
      method: "DELETE",
      title: `Delete ${flag.id}`,
      done: `${flag.id} was deleted.`,
      consequences: (
        <>
          Its settings of {count} {count === 1 ? "environment" : "environments"} are removed; services serve the default of their code. It
          was evaluated last <RelativeTime at={last_evaluated} absent="never" />.
        </>
      ),
    });
    if (done) await navigate({ to: "/flags" });
  };
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Button size="compact-sm" variant="default" disabled={disabled} onClick={remove}>
          Delete
        </Button>
      )}
    </RoleGate>
  );
}

function Sources({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useSources("flag_source", id);
  if (isPending) return <Loading rows={3} />;
  if (!data) return <ErrorState error={error} retry={() => refetch()} />;
  if (data.data.length === 0)
    return (
      <EmptyState title="No service declares this flag">
        It was made here, or the services that declared it have not been seen since.
      </EmptyState>
    );
  return (
    <Table.ScrollContainer minWidth={500}>
      <Table verticalSpacing={5} fz="sm">
        <Table.Thead>
          <Table.Tr>
            {["Service", "Environment", "Type", "Default in the code", "Last seen"].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.data.map(({ id, attributes }) => (
            <Table.Tr key={id}>
              <Table.Td>{attributes.service}</Table.Td>
              <Table.Td>{attributes.environment}</Table.Td>
              <Table.Td>{attributes.declared_type.toLowerCase()}</Table.Td>
              <Table.Td className="mono">{JSON.stringify(attributes.declared_default)}</Table.Td>
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

function CodeTab({ flag }: { flag: Flag }) {
  const { type, default: fallback } = flag.attributes;
  const literal = JSON.stringify(fallback);
  const call = { BOOLEAN: "box.Bool", STRING: "box.String", NUMERIC: "box.Number", JSON: "live.JSON[Settings]" }[type];
  const args = type === "JSON" ? `box, "${flag.id}", Settings{}` : `"${flag.id}", ${literal}`;
  const go = `flag := ${call}(${args}) // declared once, when the service starts\nvalue := flag.Get(live.WithContext(ctx, live.User("alice")))`;
  const curl = `curl -X POST ${window.location.origin}/ofrep/v1/evaluate/flags/${flag.id} \\\n  -H "Authorization: Bearer $SIGNALBOX_KEY" -H "X-Signalbox-Environment: production" \\\n  -H 'Content-Type: application/json' -d '{"context":{"targetingKey":"alice"}}'`;
  return (
    <Stack>
      {[
        { title: "Go", text: go },
        { title: "OpenFeature (OFREP)", text: curl },
        { title: "Command line", text: `signalbox flags why ${flag.id} -e production user:alice` },
      ].map(({ title, text }) => (
        <div key={title}>
          <Group justify="space-between" mb={4}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <CopyText text={text} />
          </Group>
          <Code block>{text}</Code>
        </div>
      ))}
    </Stack>
  );
}
