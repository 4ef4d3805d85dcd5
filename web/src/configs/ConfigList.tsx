import { Placeholder } from "../ui/Placeholder";

export default function ConfigList() {
  return <Placeholder title="Config" />;
}
