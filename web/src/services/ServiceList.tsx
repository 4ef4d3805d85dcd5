import { Placeholder } from "../ui/Placeholder";

export default function ServiceList() {
  return <Placeholder title="Services" />;
}
