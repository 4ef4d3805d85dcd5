import { Placeholder } from "../ui/Placeholder";

export default function LoggerList() {
  return <Placeholder title="Log levels" />;
}
