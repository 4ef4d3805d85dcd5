import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type Kind, placeOf, type Resource, wordFor } from "../api/kinds";
import { useOne } from "../api/queries";
import { CopyText } from "../ui/CopyText";
import { healthVerb, nameOf } from "../ui/changes";
import { RevertButton } from "../ui/History";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { Note, SentenceList } from "../ui/Sentences";
import { SidePanel } from "../ui/SidePanel";
import { ErrorState, Loading } from "../ui/states";
import { instant } from "../ui/time";
import { wayBack } from "./filters";
import { Sides } from "./Sides";

/** ChangePanel shows one change in full, with its revert button. */
export function ChangePanel({ seq, close }: { seq: string; close: () => void }) {
  const { data, error, refetch } = useOne("change", seq);
  return (
    <SidePanel title={`Change ${seq}`} close={close}>
      {error && !data ? <ErrorState error={error} retry={refetch} /> : !data ? <Loading /> : <Details key={seq} change={data.resource} />}
    </SidePanel>
  );
}

function Details({ change }: { change: Resource<"change"> }) {
  const {
    kind,
    key,
    action,
    actor,
    before,
    after,
    created_at,
    reverts,
    summary,
    note,
    private: isPrivate,
    documents_removed: isTrimmed,
  } = change.attributes;
  const place = placeOf(kind, key);
  return (
    <Stack>
      <Stack gap={2}>
        <Text>
          {kind === "job_health" ? (
            "The job"
          ) : (
            <>
              <b>{actor.name}</b> {action.replace("_", " ")} the {wordFor(kind)}
            </>
          )}{" "}
          {place ? (
            <Anchor component={Link} to={place} className="mono">
              {nameOf(change.attributes)}
            </Anchor>
          ) : (
            <span className="mono">{nameOf(change.attributes)}</span>
          )}
          {kind === "job_health" && ` ${healthVerb(action)}`}
        </Text>
        <Group gap="xs">
          <Text size="sm" className="muted">
            <RelativeTime at={created_at} /> · {instant(created_at).utc}
            {reverts ? ` · reverts change ${reverts}` : ""}
          </Text>
          <CopyText text={window.location.href} label="Copy link" />
        </Group>
      </Stack>
      <Note note={note} />
      <SentenceList summary={summary ?? []} />
      {!isPrivate && !isTrimmed && <Sides before={before} after={after} />}
      <WayBack change={change} />
    </Stack>
  );
}

function WayBack({ change }: { change: Resource<"change"> }) {
  const way = wayBack(change.attributes);
  if ("refusal" in way)
    return (
      <Text size="sm" className="muted">
        {way.refusal}
      </Text>
    );
  return (
    <div>
      <RoleGate needs={way.needs}>
        {(disabled) => <RevertButton seq={change.id} kind={change.attributes.kind as Kind} disabled={disabled} />}
      </RoleGate>
    </div>
  );
}
