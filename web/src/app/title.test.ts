import { expect, test } from "vitest";
import { titleOf } from "./title";

test("the title of a page says what it shows", () => {
  expect(titleOf("/")).toBe("Home · Signalbox");
  expect(titleOf("/flags")).toBe("Flags · Signalbox");
  expect(titleOf("/flags/checkout%2Fv2")).toBe("checkout/v2 · Flags · Signalbox");
  expect(titleOf("/jobs/nightly/runs/7")).toBe("Run · nightly · Jobs · Signalbox");
  expect(titleOf("/log-groups/sql")).toBe("sql · Groups · Signalbox");
  expect(titleOf("/services/contexts/gets")).toBe("What a context gets · Services · Signalbox");
  expect(titleOf("/jobs/new")).toBe("New job · Jobs · Signalbox");
  expect(titleOf("/nowhere")).toBe("Page not found · Signalbox");
});
