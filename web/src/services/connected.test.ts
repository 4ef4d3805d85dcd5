import { expect, test } from "vitest";
import type { Resource } from "../api/kinds";
import { byService, clientsOf, environmentsOf } from "./connected";

const connection = (service: string | null, environment: string | null, client: string): Resource<"connection"> => ({
  id: crypto.randomUUID(),
  type: "connection",
  attributes: { service, environment, client, connected_at: "2030-01-01T00:00:00Z", node: "n1", seq: 1 },
});

const all = [
  connection("checkout", "production", "signalbox-go/1.2.0 (linux)"),
  connection("checkout", "production", "signalbox-go/1.2.0 (linux)"),
  connection("checkout", "staging", "signalbox-go/1.3.0 (linux)"),
  connection(null, null, "Mozilla/5.0 Chrome/120 Safari/537"),
];

test("connections are those of their service", () => {
  const found = byService(all);
  expect([...found.keys()]).toEqual(["checkout"]);
  expect(clientsOf(found.get("checkout") ?? [])).toBe("signalbox-go 1.2.0, signalbox-go 1.3.0");
  expect(environmentsOf(found.get("checkout") ?? [])).toBe("production × 2, staging");
});
