import { Button, Checkbox, Group, NativeSelect, Switch, Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Environment } from "../api/session";
import { useSetSearch } from "../app/focus";
import { RoleGate } from "../ui/RoleGate";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { useWriter } from "../ui/WriteProvider";
import styles from "./configs.module.css";
import { useResolved } from "./queries";
import { type Config, compare, copied, type Difference, frozen, type Level, originWord, type Resolved, rowsOf, shown } from "./values";

/** Compare shows the resolved values of two environments, and copies values from one to the other. */
export function Compare({ chain, environments }: { chain: Level[]; environments: Environment[] }) {
  const search = useSearch({ from: "/frame/configs/$id" });
  const setSearch = useSetSearch();
  const known = (id: string | undefined) => environments.find((environment) => environment.id === id);
  const from = known(search.from) ?? environments.find(({ id }) => id !== "production");
  const to = known(search.to) ?? known("production") ?? environments[1];
  if (!from || !to)
    return <EmptyState title="There is only one environment">Create a second one under Environments to compare them.</EmptyState>;
  const data = environments.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Group gap="xs" mb="sm" align="flex-end">
        <NativeSelect
          size="xs"
          label="From"
          data={data}
          value={from.id}
          onChange={(event) => setSearch({ from: event.currentTarget.value })}
        />
        <Button size="xs" variant="default" aria-label="Swap" title="Swap" onClick={() => setSearch({ from: to.id, to: from.id })}>
          ⇄
        </Button>
        <NativeSelect size="xs" label="To" data={data} value={to.id} onChange={(event) => setSearch({ to: event.currentTarget.value })} />
        <Switch
          size="xs"
          mb={6}
          label="Show equal values"
          checked={search.all === "1"}
          onChange={(event) => setSearch({ all: event.currentTarget.checked ? "1" : undefined })}
        />
      </Group>
      <Differences key={`${from.id} ${to.id}`} chain={chain} from={from} to={to} all={search.all === "1"} />
    </>
  );
}

function Differences({ chain, from, to, all }: { chain: Level[]; from: Environment; to: Environment; all: boolean }) {
  const { id } = chain[0] as Level;
  const { of, isPending, error } = useResolved(id, [from.id, to.id]);
  const [left, right] = [of.get(from.id), of.get(to.id)];
  if (isPending) return <Loading rows={4} />;
  if (!left || !right) return <ErrorState error={error} />;
  const found = compare(rowsOf(chain), left, right);
  const different = found.filter(({ differs }) => differs);
  if (different.length === 0 && !all)
    return <EmptyState title={`${from.name} and ${to.name} get the same values`}>There is nothing to copy.</EmptyState>;
  return <Chooser chain={chain} from={from} to={to} found={all ? found : different} left={left} right={right} />;
}

interface Choosing {
  chain: Level[];
  from: Environment;
  to: Environment;
  found: Difference[];
  left: Resolved;
  right: Resolved;
}

function Chooser({ chain, from, to, found, left, right }: Choosing) {
  const writer = useWriter();
  const { id } = chain[0] as Level;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const differing = found.filter(({ differs }) => differs).map(({ row }) => row.key);
  const keys = differing.filter((key) => chosen.has(key));
  const values = keys.length === 1 ? "1 value" : `${keys.length} values`;
  const toggle = (key: string) => setChosen(new Set(chosen.has(key) ? keys.filter((each) => each !== key) : [...keys, key]));
  const copy = async () => {
    const done = await writer.attempt({
      kind: "config",
      id,
      title: `Copy ${values} of ${id} from ${from.name} to ${to.name}`,
      done: `${values} of ${id} copied to ${to.name}.`,
      environments: [to.id],
      confirm: true,
      change: (current) => copied(current as unknown as Config, { keys, from: { environment: from.id, resolved: left }, to: to.id, chain }),
    });
    if (done) setChosen(new Set());
  };
  return (
    <>
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">
                <Checkbox
                  size="xs"
                  aria-label="Choose all that differ"
                  checked={keys.length > 0 && keys.length === differing.length}
                  indeterminate={keys.length > 0 && keys.length < differing.length}
                  onChange={(event) => setChosen(new Set(event.currentTarget.checked ? differing : []))}
                />
              </th>
              <th scope="col">Item</th>
              <th scope="col">{from.name}</th>
              <th scope="col">{to.name}</th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ row, differs, ...values }) => (
              <tr key={row.key} data-same={!differs || undefined}>
                <td>
                  {differs && (
                    <Checkbox size="xs" aria-label={`Choose ${row.key}`} checked={chosen.has(row.key)} onChange={() => toggle(row.key)} />
                  )}
                </td>
                <td className="mono">{row.key}</td>
                <Side value={values.from} origin={originWord(id, left.origins[row.key], from.id)} />
                <Side value={values.to} origin={originWord(id, right.origins[row.key], to.id)} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Group mt="sm" gap="sm">
        <RoleGate needs="MEMBER" environment={to.id}>
          {(disabled) => (
            <Button size="compact-sm" disabled={disabled || keys.length === 0 || Boolean(frozen(to))} onClick={copy}>
              {keys.length === 0 ? `Copy to ${to.name}…` : `Copy ${values} to ${to.name}…`}
            </Button>
          )}
        </RoleGate>
        <Text size="xs" className="muted">
          {frozen(to) ?? "The change is shown before anything is written."}
        </Text>
      </Group>
    </>
  );
}

function Side({ value, origin }: { value: unknown; origin: string }) {
  return (
    <td>
      <span className="mono">{value === undefined ? "absent" : shown(value, 400)}</span> <span className={styles.type}>{origin}</span>
    </td>
  );
}
