import { Placeholder } from "../ui/Placeholder";

export default function Home() {
  return <Placeholder title="Home" />;
}
