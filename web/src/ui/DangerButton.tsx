import { Button } from "@mantine/core";

/** DangerButton starts a destructive action; a dialog with the consequences follows. */
export function DangerButton({ disabled, onClick, children }: { disabled: boolean; onClick: () => void; children: string }) {
  return (
    <Button size="compact-sm" variant="default" c="light-dark(#a3241b, #ff9f97)" disabled={disabled} onClick={onClick}>
      {children}
    </Button>
  );
}
