import { Kbd, Table } from "@mantine/core";
import { Dialog } from "../ui/Dialog";
import { places } from "./places";

const keys: [string[], string][] = [
  [["Ctrl", "K"], "find anything: flags, loggers, configs, jobs, screens"],
  [["/"], "filter the list"],
  [["↑", "↓", "←", "→"], "move in a grid; → and ← open and close branches"],
  [["Enter"], "use the cell, or open the row"],
  [["x"], "select the row, for an action on many of them"],
  [["Esc"], "close the open panel or dialog, or select nothing"],
  [["?"], "show these keys"],
];

/** KeyHelp lists the keys. */
export default function KeyHelp({ close }: { close: () => void }) {
  return (
    <Dialog onClose={close} title="Keyboard">
      <Table withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {keys.map(([combination, meaning]) => (
            <Row key={meaning} combination={combination} meaning={meaning} />
          ))}
          {places.map(({ to, keys, label }) => (
            <Row key={to} combination={["g", keys]} meaning={label} />
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}

function Row({ combination, meaning }: { combination: string[]; meaning: string }) {
  return (
    <Table.Tr>
      <Table.Td w={150}>
        {combination.map((key) => (
          <Kbd key={key} size="xs" mr={3}>
            {key}
          </Kbd>
        ))}
      </Table.Td>
      <Table.Td>{meaning}</Table.Td>
    </Table.Tr>
  );
}
