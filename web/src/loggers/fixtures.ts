import type { Logger } from "./levels";

/** aLogger is a logger for tests. */
export function aLogger(id: string, attributes: Partial<Logger["attributes"]> = {}): Logger {
  return {
    id,
    type: "logger",
    attributes: {
      name: id,
      level: null,
      level_expires_at: null,
      group: null,
      group_id: null,
      managed: true,
      environments: {},
      resolved: { production: { level: "INFO", origin: "default", of: null } },
      sources: [],
      effective_levels: {},
      created_at: "2030-01-01T00:00:00Z",
      updated_at: "2030-01-01T00:00:00Z",
      ...attributes,
    },
  };
}
