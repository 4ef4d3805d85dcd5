import { Button, Menu } from "@mantine/core";
import { copyText } from "./copy";
import { asCurl, type Sent } from "./copyas";
import { say } from "./messages";

interface Forms extends Sent {
  cli?: string;
  go?: string;
}

/** CopyAs copies the request of a form, for a script. */
export function CopyAs({ cli, go, ...sent }: Forms) {
  const copy = async (what: string, text: string) => {
    if (await copyText(text)) say(`Copied as ${what}.`);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button size="compact-sm" variant="subtle">
          Copy as…
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy("curl", asCurl(window.location.origin, sent))}>curl</Menu.Item>
        {cli && <Menu.Item onClick={() => copy("a command", cli)}>signalbox command</Menu.Item>}
        {go && <Menu.Item onClick={() => copy("Go", go)}>Go</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
