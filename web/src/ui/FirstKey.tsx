import { useNavigate } from "@tanstack/react-router";
import { NewButton } from "./NewButton";

/** FirstKey opens the form of a new key, which services need before they can report. */
export function FirstKey() {
  const navigate = useNavigate();
  return (
    <NewButton needs="ADMIN" onClick={() => void navigate({ to: "/keys", search: { new: "1" } as never })}>
      New key for a service
    </NewButton>
  );
}
