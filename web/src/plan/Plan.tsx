import { Placeholder } from "../ui/Placeholder";

export default function Plan() {
  return <Placeholder title="Plan" />;
}
