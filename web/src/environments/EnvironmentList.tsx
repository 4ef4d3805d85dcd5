import { Group, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useList, useOne } from "../api/queries";
import { type Environment, inOrder } from "../api/session";
import { storedOptions } from "../api/usage";
import { useSetSearch } from "../app/focus";
import { EnvironmentDot } from "../ui/EnvironmentDot";
import { NewButton } from "../ui/NewButton";
import { OrderList } from "../ui/OrderList";
import { useRefusal } from "../ui/RoleGate";
import { ErrorState, Loading } from "../ui/states";
import { Tag } from "../ui/Tag";
import { useWriter } from "../ui/WriteProvider";
import styles from "./EnvironmentList.module.css";
import { EnvironmentPanel } from "./EnvironmentPanel";
import { NewEnvironment } from "./NewEnvironment";
import { inWords } from "./usage";

/** EnvironmentList shows the environments in the account's order, and below them the ad hoc ones. */
export default function EnvironmentList() {
  const search = useSearch({ from: "/frame/environments" });
  const setSearch = useSetSearch();
  return (
    <main className="screen detail">
      <header className="screen-head">
        <h1>Environments</h1>
        <span className="spring" />
        <NewButton needs="ADMIN" onClick={() => setSearch({ new: "1", id: undefined })}>
          New environment
        </NewButton>
      </header>
      <Lists />
      {search.id && <EnvironmentPanel key={search.id} id={search.id} close={() => setSearch({ id: undefined })} />}
      {search.new && <NewEnvironment close={(id) => setSearch({ new: undefined, id })} />}
    </main>
  );
}

function Lists() {
  const { data, error, refetch } = useList("environment", { "page[size]": 1000 });
  const settings = useOne("account_settings", "current");
  const refusal = useRefusal("ADMIN");
  const putInOrder = usePutInOrder();
  if (error && !data) return <ErrorState error={error} retry={refetch} />;
  if (!data || settings.isPending) return <Loading rows={4} />;
  const all = inOrder(
    data.data.map(({ id, attributes }) => ({ id, ...attributes })),
    settings.data?.resource.attributes.environment_order ?? [],
  );
  const arranged = all.filter(({ managed, classification }) => managed || classification === "STANDARD");
  const seen = all.filter((environment) => !arranged.includes(environment));
  return (
    <>
      <Text size="sm" className="muted">
        The columns of every screen have this order. Drag the handles, or press space on one and use the arrows.
      </Text>
      <OrderList label="Environments in order" items={arranged} disabled={refusal !== undefined} onOrder={putInOrder}>
        {(environment) => <Row environment={environment} />}
      </OrderList>
      {seen.length > 0 && <AdHoc environments={seen} />}
    </>
  );
}

function usePutInOrder() {
  const writer = useWriter();
  const queries = useQueryClient();
  return async (order: string[]) => {
    await writer.attempt({
      kind: "account_settings",
      id: "current",
      title: "Put the environments in order",
      done: `The order is ${order.join(", ")}.`,
      change: (current) => ({ ...current, environment_order: order }),
    });
    await queries.invalidateQueries({ queryKey: ["settings", "order"] });
  };
}

function AdHoc({ environments }: { environments: Environment[] }) {
  return (
    <section>
      <h2 className={styles.second}>Ad hoc</h2>
      <Text size="sm" className="muted" mb="xs">
        Services reported these environments, or people made them ad hoc. Lists show a column for one only while it is in focus. Services
        still get its stored values; manage it to change them.
      </Text>
      <ul className={styles.seen}>
        {environments.map((environment) => (
          <li key={environment.id}>
            <Row environment={environment} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ environment }: { environment: Environment }) {
  const setSearch = useSetSearch();
  const { data: usage } = useQuery(storedOptions(environment.id));
  return (
    <button
      type="button"
      className="plain"
      style={{ flex: 1, minWidth: 0 }}
      onClick={() => setSearch({ id: environment.id, new: undefined })}
    >
      <span className={styles.row}>
        <EnvironmentDot environment={environment} />
        <span className={styles.name}>
          {environment.name} <span className="mono muted">{environment.id}</span>
        </span>
        <Group gap={6} wrap="nowrap" className={styles.tags}>
          {environment.managed ? <Tag tone="good">managed</Tag> : <Tag tone="warning">frozen</Tag>}
          {environment.classification === "AD_HOC" && <Tag>ad hoc</Tag>}
        </Group>
        <span className={`muted ${styles.stored}`}>{usage ? `stores ${inWords(usage)}` : "…"}</span>
      </span>
    </button>
  );
}
