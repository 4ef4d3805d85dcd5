import { Placeholder } from "../ui/Placeholder";

export default function People() {
  return <Placeholder title="People" />;
}
