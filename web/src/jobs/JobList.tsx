import { Placeholder } from "../ui/Placeholder";

export default function JobList() {
  return <Placeholder title="Jobs" />;
}
