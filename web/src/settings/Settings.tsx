import { Placeholder } from "../ui/Placeholder";

export default function Settings() {
  return <Placeholder title="Settings" />;
}
