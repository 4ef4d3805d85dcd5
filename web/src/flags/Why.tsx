import { Autocomplete, Badge, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { send } from "../api/client";
import { parse, stringify } from "../api/json";
import { keyOf, useList } from "../api/queries";
import type { components } from "../api/schema";
import type { Environment } from "../api/session";
import { useColumns } from "../app/focus";
import { EnvironmentName } from "../ui/EnvironmentDot";
import { JsonEditor } from "../ui/JsonEditor";
import { ErrorState, Loading } from "../ui/states";
import { chipOf, type Flag, settingsIn } from "./flags";
import { sentenceOf } from "./rules";
import { Tree } from "./Tree";
import styles from "./Why.module.css";

type Evaluation = components["schemas"]["EvaluationDocument"]["data"]["attributes"];

/** Why asks the server which value a context gets in every environment, and shows why. */
export default function Why({ flag }: { flag: Flag }) {
  const environments = useColumns();
  const [search, setSearch] = useState("");
  const [text, setText] = useState('{\n  "user": { "key": "alice" }\n}');
  const { data } = useList("context", { ...filtersOf(search), "page[size]": 20 });
  const known = data?.data ?? [];
  // The typed text may be an id before its list arrives, so it is looked up in each new list.
  const found = known.find(({ id }) => id === search);
  const [shown, setShown] = useState<string>();
  if (found?.id !== shown) {
    setShown(found?.id);
    if (found) setText(textOf(found.attributes));
  }
  const context = read(text);
  const answers = useQueries({
    queries: environments.map(({ id }) => ({
      queryKey: [...keyOf.one("flag", flag.id), "evaluate", id, context],
      enabled: context !== undefined,
      queryFn: async () =>
        (
          await send<{ data: { attributes: Evaluation } }>("POST", `/api/v1/flags/${encodeURIComponent(flag.id)}/actions/evaluate`, {
            body: { environment: id, context },
          })
        ).document.data.attributes,
    })),
  });
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Autocomplete
          label="A context that services reported"
          placeholder="user:alice"
          data={known.map(({ id }) => id)}
          value={search}
          onChange={setSearch}
          limit={20}
        />
        <div>
          <Text size="sm" fw={500} mb={4}>
            The context
          </Text>
          <JsonEditor label="The context" value={text} onChange={setText} minHeight={70} />
        </div>
      </SimpleGrid>
      {environments.map((environment, index) => {
        const { data, error } = answers[index] ?? {};
        if (error) return <ErrorState key={environment.id} error={error} />;
        if (!data) return <Loading key={environment.id} rows={2} />;
        return <Answer key={environment.id} flag={flag} environment={environment} answer={data} />;
      })}
    </Stack>
  );
}

/** filtersOf finds contexts by a part of an id, as people type it: "ali", or "user:ali". */
function filtersOf(search: string) {
  const colon = search.indexOf(":");
  return colon < 0
    ? { "filter[search]": search }
    : { "filter[context_type]": search.slice(0, colon), "filter[search]": search.slice(colon + 1) };
}

function textOf({ context_type, key, attributes }: components["schemas"]["Context"]["attributes"]): string {
  return stringify({ [context_type]: { key, ...attributes } }, 2);
}

function read(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

const reasons: Record<Evaluation["reason"], string> = {
  STATIC: "No rules",
  TARGETING_MATCH: "Rule matched",
  SPLIT: "Percentage",
  DEFAULT: "No rule matched",
  DISABLED: "Flag is off",
};

function Answer({ flag, environment, answer }: { flag: Flag; environment: Environment; answer: Evaluation }) {
  const rules = settingsIn(flag.attributes, environment.id).rules;
  const decided = answer.rule === null ? undefined : rules[answer.rule];
  return (
    <section className={styles.answer} aria-label={`Answer in ${environment.name}`}>
      <Group gap="md">
        <Text size="sm" w={130}>
          <EnvironmentName environment={environment} />
        </Text>
        <span className={styles.value}>{chipOf(answer.value)}</span>
        <Badge variant="light" tt="none">
          {reasons[answer.reason]}
        </Badge>
        {decided && (
          <Text size="sm" className="muted">
            rule {(answer.rule ?? 0) + 1}: {decided.description || sentenceOf(decided.logic)}
          </Text>
        )}
      </Group>
      {answer.explanation.rules.length > 0 && (
        <details>
          <summary>How it was decided</summary>
          {answer.explanation.rules.map((rule, index) => (
            <div key={JSON.stringify([index, rule])} className={styles.rule}>
              <Text size="xs" fw={600}>
                Rule {index + 1}
              </Text>
              <Tree rule={rule} logic={rules[index]?.logic} />
            </div>
          ))}
        </details>
      )}
    </section>
  );
}
