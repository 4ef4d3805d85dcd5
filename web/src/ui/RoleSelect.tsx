import { NativeSelect } from "@mantine/core";
import type { Role } from "../api/kinds";
import { rolesBelow, useMe } from "../api/session";

export const roleWords: Record<Role, string> = {
  VIEWER: "Viewer: reads everything",
  MEMBER: "Member: also changes flags, levels, configs and jobs",
  ADMIN: "Admin: also environments, people, keys and settings",
  OWNER: "Owner: everything",
};

/** RoleSelect offers the roles that the user may give, up to their own role. */
export function RoleSelect({ value, onChange, disabled }: { value: Role; onChange: (role: Role) => void; disabled?: boolean }) {
  const { session } = useMe();
  const roles = rolesBelow(session.attributes.role);
  const data = (roles.includes(value) ? roles : [...roles, value]).map((role) => ({ value: role, label: roleWords[role] }));
  return (
    <NativeSelect
      label="Role"
      size="sm"
      data={data}
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
    />
  );
}
