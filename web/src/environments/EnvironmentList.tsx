import { Placeholder } from "../ui/Placeholder";

export default function EnvironmentList() {
  return <Placeholder title="Environments" />;
}
