import { Placeholder } from "../ui/Placeholder";

export default function KeyList() {
  return <Placeholder title="Keys" />;
}
