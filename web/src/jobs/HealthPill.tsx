import { Tag } from "../ui/Tag";
import { instant } from "../ui/time";
import { type Health, healthDetail, healthStates } from "./policies";

/** HealthPill shows the health of a job in a word; the title says since when, and when it last succeeded. */
export function HealthPill({ health }: { health: Health }) {
  const found = healthStates.find(({ value }) => value === health.state);
  const title = [
    `Since ${instant(health.since).utc}`,
    healthDetail(health),
    health.last_success_at ? `last success ${instant(health.last_success_at).utc}` : "no success yet",
  ];
  return (
    <Tag tone={found?.tone} title={title.filter(Boolean).join(", ")}>
      {found?.label ?? health.state}
    </Tag>
  );
}
