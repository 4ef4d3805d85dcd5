import { Button, type ButtonProps } from "@mantine/core";
import type { Role } from "../api/kinds";
import { RoleGate } from "./RoleGate";

interface Props extends Pick<ButtonProps, "size" | "disabled"> {
  needs?: Role;
  environment?: string;
  /** busy shows that the form is being sent. */
  busy: boolean;
  children: string;
}

/** SubmitButton sends a form. It is disabled with the reason when the user may not send it. */
export function SubmitButton({ needs = "MEMBER", environment, busy, disabled, ...button }: Props) {
  return (
    <RoleGate needs={needs} environment={environment}>
      {(refused) => <Button type="submit" loading={busy} disabled={disabled || refused} {...button} />}
    </RoleGate>
  );
}
