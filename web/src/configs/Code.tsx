import { Code as Block, Stack, Text } from "@mantine/core";
import { useColumns } from "../app/focus";
import { CopyText } from "../ui/CopyText";
import { goType, type Level, rowsOf } from "./values";

/** Code shows how a service and a script read a config. */
export function Code({ chain }: { chain: Level[] }) {
  const { id } = chain[0] as Level;
  const [environment] = useColumns();
  const where = environment?.id ?? "production";
  const path = `/api/v1/configs/${encodeURIComponent(id)}/resolved?environment=${where}`;
  return (
    <Stack gap="xl" maw={860}>
      <Snippet title="In a Go service" code={goType(id, rowsOf(chain))}>
        The values are those of the service's environment, inherited ones included. They change while the service runs.
      </Snippet>
      <Snippet
        title="In a script"
        code={`signalbox configs resolve ${id} -e ${where}\n\ncurl -H "Authorization: Bearer $SIGNALBOX_KEY" \\\n  '${window.location.origin}${path}'`}
      >
        The values of one environment, and where each comes from.
      </Snippet>
    </Stack>
  );
}

function Snippet({ title, code, children }: { title: string; code: string; children: string }) {
  return (
    <section aria-label={title}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      <Text size="sm" className="muted" mb={8}>
        {children}
      </Text>
      <div className="code-block">
        <Block block tabIndex={0}>
          {code}
        </Block>
        <CopyText text={code} />
      </div>
    </section>
  );
}
