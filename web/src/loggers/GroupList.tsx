import { Group, Stack, Text, TextInput } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { pathOf, type Resource } from "../api/kinds";
import { useList } from "../api/queries";
import { useColumns, useSetSearch } from "../app/focus";
import { CopyAs } from "../ui/CopyAs";
import { asCommand, asGo } from "../ui/copyas";
import { DetailHead } from "../ui/DetailHead";
import { useDraft } from "../ui/draft";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { FormModal } from "../ui/FormModal";
import { Grid } from "../ui/Grid";
import { LevelPill } from "../ui/LevelPill";
import { NewButton } from "../ui/NewButton";
import { SubmitButton } from "../ui/SubmitButton";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { useSubmit } from "../ui/useSubmit";
import { useWriter } from "../ui/WriteProvider";
import { TimeLeft } from "./LevelCell";

type LogGroup = Resource<"log_group">;

/** GroupList lists the log groups with their levels. */
export default function GroupList() {
  const groups = useList("log_group", { "page[size]": 1000 });
  const environments = useColumns();
  const navigate = useNavigate();
  const search = useSearch({ from: "/frame/log-groups" });
  const setSearch = useSetSearch();
  const make = () => setSearch({ new: "1" });
  const rows = groups.data?.data ?? [];
  const open = (group: LogGroup) => navigate({ to: "/log-groups/$id", params: { id: group.id } });
  return (
    <main className="screen">
      <DetailHead list={{ to: "/loggers", label: "Log levels" }} title="Groups">
        <NewButton onClick={make}>New group</NewButton>
      </DetailHead>
      {groups.isPending && <Loading />}
      {groups.error && !groups.data && <ErrorState error={groups.error} retry={() => groups.refetch()} />}
      {groups.data && rows.length === 0 && (
        <EmptyState title="No groups yet" action={<NewButton onClick={make}>New group</NewButton>}>
          A group gives one level to many loggers, such as all loggers of SQL code. Create one, then drag loggers into it on its page.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Grid
          label="Log groups"
          count={rows.length}
          at={(index) => rows[index]}
          keyOf={(group) => group.id}
          onOpen={open}
          columns={[
            {
              key: "name",
              header: "Group",
              width: "minmax(220px, 1fr)",
              cell: (group) => (
                <Link to="/log-groups/$id" params={{ id: group.id }} tabIndex={-1}>
                  {group.id}
                </Link>
              ),
            },
            ...environments.map((environment) => ({
              key: environment.id,
              header: <EnvironmentName environment={environment} />,
              width: "minmax(180px, 1fr)",
              cell: (group: LogGroup) => <GroupLevel group={group} environment={environment.id} />,
            })),
          ]}
          card={(group) => (
            <>
              <Link to="/log-groups/$id" params={{ id: group.id }}>
                {group.id}
              </Link>
              {environments.map((environment) => (
                <div key={environment.id}>
                  <EnvironmentName environment={environment} /> <GroupLevel group={group} environment={environment.id} />
                </div>
              ))}
            </>
          )}
        />
      )}
      {search.new && <NewGroup close={() => setSearch({ new: undefined })} />}
    </main>
  );
}

/** GroupLevel shows the level that a group gives its members in an environment. */
export function GroupLevel({ group, environment }: { group: LogGroup; environment: string }) {
  const own = group.attributes.environments[environment];
  const level = own?.level ?? group.attributes.level;
  const expiresAt = own ? own.expires_at : group.attributes.level_expires_at;
  if (!level) return <span className="muted">none</span>;
  return (
    <>
      <LevelPill level={level} faint={!own} />
      <Text span size="xs" className="muted">
        {own ? "own" : "all environments"}
      </Text>
      {expiresAt && <TimeLeft at={expiresAt} />}
    </>
  );
}

function NewGroup({ close }: { close: () => void }) {
  const writer = useWriter();
  const navigate = useNavigate();
  const draft = useDraft("log_group:new", "", { id: "" });
  const { id } = draft.value;
  const { submit, failure, busy } = useSubmit(async () => {
    const made = await writer.perform({
      kind: "log_group",
      id,
      method: "POST",
      title: `Create the group ${id}`,
      done: `Created ${id}.`,
      change: () => ({}),
    });
    if (!made) return;
    draft.discard();
    await navigate({ to: "/log-groups/$id", params: { id: made.id } });
  });
  return (
    <FormModal draft={draft} onClose={close} title="New group">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Id"
            value={id}
            onChange={(event) => draft.change({ id: event.currentTarget.value })}
            error={failure && (failure.at("/data/id") ?? failure.message)}
            required
            data-autofocus
          />
          <Group justify="space-between">
            <CopyAs
              method="POST"
              path={pathOf("log_group")}
              body={{ data: { type: "log_group", id, attributes: {} } }}
              cli={asCommand(["groups", "create", id || "ID"])}
              go={asGo("LogGroups.Create", id || "ID", "LogGroupDraft", {})}
            />
            <SubmitButton busy={busy}>Create</SubmitButton>
          </Group>
        </Stack>
      </form>
    </FormModal>
  );
}
