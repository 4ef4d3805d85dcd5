import { Placeholder } from "../ui/Placeholder";

export default function FlagList() {
  return <Placeholder title="Flags" />;
}
