import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { answer, envelope, fixture, test } from "./harness";

/** These tests show writes, and the events between nodes, on PostgreSQL, which scripts/with-postgres provides. */
const { SIGNALBOX_TEST_POSTGRES: server, SIGNALBOX_TEST_POSTGRES_BIN: programs } = process.env;
const name = `console_${process.pid}_${Date.now()}`;

function onServer(program: "createdb" | "dropdb", ...words: string[]): void {
  execFileSync(join(programs as string, program), ["--maintenance-db", server as string, ...words, name], { stdio: "pipe" });
}

/** newDatabase returns the URL of an empty database. */
function newDatabase(): string {
  onServer("createdb");
  const url = new URL(server as string);
  url.pathname = `/${name}`;
  return url.href;
}

describe.skipIf(!server || !programs)("on PostgreSQL", () => {
  const w = fixture(
    async ({ api }) => {
      await api("POST", "/api/v1/flags", envelope("flag", "shared", { type: "BOOLEAN", default: false }));
      const report = { id: "shop", service: "checkout", environment: "production", level: "INFO", resolved_level: "INFO" };
      await api("POST", "/api/v1/loggers/bulk", { loggers: [report] });
    },
    () => ({ SIGNALBOX_DATABASE: newDatabase() }),
  );
  afterAll(() => onServer("dropdb", "--force"));

  test("a write is seen by everybody at once, and undone", async () => {
    const [one, other] = await Promise.all([w.open("/flags?env=production"), w.open("/flags/shared?tab=production")]);
    await Promise.all([one, other].map((page) => page.getByText("Live").waitFor()));
    await one.getByRole("switch", { name: "shared in Production" }).click();
    await answer(one, "Switch shared off in Production");
    await other.getByRole("switch", { name: /Off:/ }).waitFor();
    await one.getByRole("button", { name: "Undo" }).click();
    await one.getByText("Undone.").waitFor();
    await other.getByRole("switch", { name: /On:/ }).waitFor();
  });

  test("a temporary level ends by itself, and the history says so", async () => {
    const page = await w.open("/loggers");
    await page.getByText("Live").waitFor();
    const environments = { production: { level: "DEBUG", ttl_seconds: 2 } };
    await w.server.api("PUT", "/api/v1/loggers/shop", envelope("logger", "shop", { environments }));
    const pill = page.getByRole("button", { name: /^Level of shop in production: DEBUG own/i });
    await pill.waitFor();
    await pill.waitFor({ state: "detached" });
    await page.goto("/history?kind=logger&id=shop");
    await page.getByRole("gridcell", { name: "expired" }).first().waitFor();
    expect(await page.getByRole("row").count()).toBeGreaterThan(2);
  });
});
