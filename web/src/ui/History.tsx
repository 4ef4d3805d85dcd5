import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, asApiError, send } from "../api/client";
import type { Kind, Resource, Role } from "../api/kinds";
import { concerned } from "../api/live";
import { useCursorList } from "../api/queries";
import { GoneContext } from "./gone";
import { RelativeTime } from "./RelativeTime";
import { RoleGate } from "./RoleGate";
import { Note, Sentences } from "./Sentences";
import { EmptyState, ErrorState, Loading } from "./states";
import { useOnce } from "./useOnce";

/** History shows the changes of one resource, newest first, each with its diff and a revert button, which restores a deleted resource. */
export default function History({ kind, id, needs = "MEMBER" }: { kind: Kind; id: string; needs?: Role }) {
  const changes = useCursorList("change", { "filter[resource]": `${kind}:${id}`, "page[size]": 20 });
  if (changes.isPending) return <Loading rows={4} />;
  if (!changes.data) return <ErrorState error={changes.error} retry={() => changes.refetch()} />;
  const all = changes.data.pages.flatMap((page) => page.data);
  if (all.length === 0)
    return (
      <EmptyState title="No changes yet">Changes by people and scripts are listed here with their diffs, and can be reverted.</EmptyState>
    );
  return (
    <Stack gap="md">
      <GoneContext.Provider value={undefined}>
        {all.map((change) => (
          <ChangeEntry key={change.id} change={change} needs={needs} />
        ))}
      </GoneContext.Provider>
      {changes.hasNextPage && (
        <Button variant="default" size="compact-sm" onClick={() => changes.fetchNextPage()} loading={changes.isFetchingNextPage}>
          Older changes
        </Button>
      )}
    </Stack>
  );
}

const revertible = new Set(["created", "updated", "deleted", "expired", "cascaded"]);

/** ChangeEntry shows one change: its actor, time and diff, and a revert button. */
export function ChangeEntry({ change, needs }: { change: Resource<"change">; needs: Role }) {
  const { action, actor, before, after, created_at, reverts, summary, note } = change.attributes;
  return (
    <Stack gap={4} component="article" aria-label={`Change ${change.id}`}>
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <Badge variant="light" size="sm" tt="none">
            {action}
          </Badge>
          <Text size="sm" fw={500}>
            {actor.name}
          </Text>
          <Text size="sm" className="muted">
            <RelativeTime at={created_at} /> · change {change.id}
            {reverts ? ` · reverts ${reverts}` : ""}
          </Text>
        </Group>
        {revertible.has(action) && (
          <RoleGate needs={needs}>
            {(disabled) => <RevertButton seq={change.id} kind={change.attributes.kind as Kind} disabled={disabled} />}
          </RoleGate>
        )}
      </Group>
      <Note note={note} />
      <Sentences summary={summary} before={before} after={after} />
    </Stack>
  );
}

/** RevertButton shows what a revert would do, and reverts when it is pressed again. */
export function RevertButton({ seq, kind, disabled }: { seq: string; kind: Kind; disabled: boolean }) {
  const queries = useQueryClient();
  const [preview, setPreview] = useState<Resource<"change">>();
  const [failure, setFailure] = useState<ApiError>();
  const [force, setForce] = useState(false);
  const [busy, run] = useOnce(async (dryRun: boolean, forced: boolean) => {
    setFailure(undefined);
    try {
      const query = { dry_run: dryRun || undefined, force: forced || undefined };
      const { document } = await send<{ data: Resource<"change"> }>("POST", `/api/v1/changes/${seq}/actions/revert`, { query });
      setForce(forced);
      setPreview(dryRun ? document.data : undefined);
      if (!dryRun) await Promise.all(concerned(`${kind}_changed`).map((queryKey) => queries.invalidateQueries({ queryKey })));
    } catch (problem) {
      setFailure(asApiError(problem));
    }
  });
  if (failure?.code === "changed_since" && !force) {
    return (
      <Group gap="xs">
        <Text size="xs">{failure.message}</Text>
        <Button size="compact-xs" variant="light" color="red" onClick={() => run(true, true)}>
          Revert anyway…
        </Button>
      </Group>
    );
  }
  if (failure) return <ErrorState error={failure} />;
  if (!preview) {
    return (
      <Button size="compact-xs" variant="default" disabled={disabled} aria-busy={busy} onClick={() => run(true, false)}>
        Revert…
      </Button>
    );
  }
  return (
    <Stack gap="xs" className="inset">
      <Sentences summary={preview.attributes.summary} before={preview.attributes.before} after={preview.attributes.after} />
      <Group gap="xs">
        <Button size="compact-xs" loading={busy} onClick={() => run(false, force)}>
          Revert
        </Button>
        <Button size="compact-xs" variant="default" onClick={() => setPreview(undefined)}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}
