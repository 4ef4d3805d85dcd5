import { Placeholder } from "../ui/Placeholder";

export default function HistoryList() {
  return <Placeholder title="History" />;
}
