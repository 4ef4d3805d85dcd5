import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useSetSearch } from "../app/focus";
import { choiceOf, isChosen } from "./chosen";
import { Dialog } from "./Dialog";
import type { Column } from "./Grid";

/** ChooseColumns shows and hides the optional columns of a list at once. The choice is part of the address, which can be shared. */
// biome-ignore lint/suspicious/noExplicitAny: the choice of columns does not depend on the type of the rows
export default function ChooseColumns({ of, close }: { of: Column<any>[]; close: () => void }) {
  const { columns } = useSearch({ strict: false }) as { columns?: string };
  const setSearch = useSetSearch();
  const shown = of.filter((column) => isChosen(column, columns)).map(({ key }) => key);
  const set = (key: string, isShown: boolean) =>
    setSearch({ columns: choiceOf(of, new Set(isShown ? [...shown, key] : shown.filter((each) => each !== key))) });
  return (
    <Dialog onClose={close} title="Columns" size="xs">
      <Stack gap="sm">
        {of.map(
          ({ key, option }) =>
            option && (
              <Checkbox
                key={key}
                label={option.label}
                checked={shown.includes(key)}
                onChange={(event) => set(key, event.currentTarget.checked)}
              />
            ),
        )}
        <Text size="xs" className="muted">
          Environments are chosen in the top bar. The address has the choice, and a saved view keeps it.
        </Text>
        <Group justify="flex-end">
          <Button onClick={close}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
