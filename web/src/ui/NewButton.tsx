import { Button } from "@mantine/core";
import type { Role } from "../api/kinds";
import { IconPlus } from "./icons";
import { RoleGate } from "./RoleGate";

/** NewButton opens the form of a new resource; it is disabled without the role. */
export function NewButton({ needs = "MEMBER", onClick, children }: { needs?: Role; onClick: () => void; children: string }) {
  return (
    <RoleGate needs={needs}>
      {(disabled) => (
        <Button size="compact-sm" leftSection={<IconPlus size={15} />} disabled={disabled} onClick={onClick}>
          {children}
        </Button>
      )}
    </RoleGate>
  );
}
