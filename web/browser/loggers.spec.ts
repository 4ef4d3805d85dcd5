import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { answer, envelope, fixture, tabTo, test } from "./harness";

const report = (id: string, service: string, resolved_level = "INFO") => ({
  id,
  service,
  environment: "production",
  level: "INFO",
  resolved_level,
});

const w = fixture(async (server) => {
  const ids = [
    "shop",
    "shop.payments",
    "shop.payments.gateway",
    "shop.catalog",
    "shop.undone",
    "shop.keys",
    "shop.other",
    "deep",
    "deep.child",
    "timed",
  ];
  await server.api("POST", "/api/v1/loggers/bulk", { loggers: ids.flatMap((id) => [report(id, "checkout"), report(id, "web")]) });
  await server.api("PUT", "/api/v1/loggers/shop", envelope("logger", "shop", { level: "INFO" }));
  await server.api("POST", "/api/v1/log_groups", envelope("log_group", "zzz", {})); // without a level: its members inherit
  await server.api("PUT", "/api/v1/loggers/deep", envelope("logger", "deep", { level: "INFO" }));
  await server.api("PUT", "/api/v1/loggers/deep.child", envelope("logger", "deep.child", { group: "zzz" }));
  await server.api("PUT", "/api/v1/loggers/shop.payments", envelope("logger", "shop.payments", { level: "WARN" }));
});

const pill = (id: string) => `Level of ${id} in production`;

test("DEBUG for 15 minutes takes four clicks, and services confirm it", async () => {
  const page = await w.open("/loggers");
  await page.getByRole("button", { name: pill("shop.payments.gateway") }).click();
  await page.getByRole("radio", { name: "DEBUG" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  const question = page.getByRole("dialog", { name: "Set shop.payments.gateway to DEBUG in production for 15 min" });
  await question.getByRole("listitem").getByText("DEBUG", { exact: false }).waitFor();
  await question.getByRole("button", { name: "Apply" }).click();
  await page.getByText("shop.payments.gateway is DEBUG in production for 15 min.").waitFor();
  await page.getByRole("button", { name: `${pill("shop.payments.gateway")}: DEBUG own` }).waitFor();
  await page.getByText("0/2 applied").first().waitFor();
  await w.server.api("POST", "/api/v1/loggers/bulk", {
    loggers: [report("shop.payments.gateway", "web", "DEBUG"), report("shop.payments.gateway", "checkout", "DEBUG")],
  });
  await page.getByText("2/2 applied").first().waitFor();
  await expectAccessible(page);
});

test("Undo brings back what was", async () => {
  const page = await w.open("/loggers?q=undone");
  await page.getByRole("button", { name: pill("shop.undone") }).click();
  await page.getByRole("radio", { name: "ERROR" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: `${pill("shop.undone")}: ERROR` }).waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("Undone.").waitFor();
  await page.getByRole("button", { name: `${pill("shop.undone")}: INFO reported` }).waitFor();
});

test("the keyboard alone sets and resets a level", async () => {
  const page = await w.open("/loggers?q=shop.keys&view=list&env=production");
  await page.getByRole("button", { name: pill("shop.keys") }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.press("Tab");
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByRole("radio", { name: "INFO" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "radio");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowLeft");
  await tabTo(page, page.getByRole("button", { name: "Apply" }));
  await page.keyboard.press("Enter");
  await answer(page, "Set shop.keys to WARN in production");
  await page.getByRole("button", { name: `${pill("shop.keys")}: WARN own` }).waitFor();
});

test("two browsers see each other's change within a second, and its end", async () => {
  const [one, other] = await Promise.all([w.open("/loggers"), w.open("/loggers")]);
  await Promise.all([one, other].map((page) => page.getByText("Live").waitFor()));
  const name = `${pill("shop.catalog")}: DEBUG`;
  await w.server.api(
    "PUT",
    "/api/v1/loggers/shop.catalog",
    envelope("logger", "shop.catalog", { environments: { production: { level: "DEBUG", ttl_seconds: 3 } } }),
  );
  await Promise.all([one, other].map((page) => page.getByRole("button", { name }).waitFor({ timeout: 5000 })));
  await Promise.all([one, other].map((page) => page.getByRole("button", { name }).waitFor({ state: "detached" })));
});

test("a level that somebody sets above is shown below it, and only what it concerns is read again", async () => {
  const page = await w.open("/loggers?q=deep");
  await page.getByRole("button", { name: `${pill("deep.child")}: INFO ↑ deep` }).waitFor();
  await page.getByText("Live").waitFor();
  await page.waitForLoadState("networkidle"); // after Live, everything that changed lately is read once more
  const asked: (string | null)[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === "/api/v1/loggers") asked.push(searchParams.get("filter[search]"));
  });
  await w.server.api("PUT", "/api/v1/loggers/deep", envelope("logger", "deep", { level: "WARN" }));
  await page.getByRole("button", { name: `${pill("deep.child")}: WARN ↑ deep` }).waitFor();
  expect(new Set(asked)).toEqual(new Set(["deep"]));
});

test("a level is set for 30 minutes or another time, with a note that the history keeps", async () => {
  const page = await w.open("/loggers?q=timed");
  for (const [choice, typed, title] of [
    ["30 min", "", "for 30 min"],
    ["Another time", "2 h 30 min", "for 2 h 30 min"],
  ] as const) {
    await page.getByRole("button", { name: pill("timed") }).click();
    await page.getByRole("radio", { name: "DEBUG" }).click();
    await page.getByRole("radio", { name: choice }).click();
    if (typed) await page.getByRole("textbox", { name: "How long" }).fill(typed);
    await page.getByLabel("Why (optional, for the history)").fill(`Ticket ${title}`);
    await page.getByRole("button", { name: "Apply" }).click();
    const question = page.getByRole("dialog", { name: `Set timed to DEBUG in production ${title}` });
    expect(await question.getByRole("textbox", { name: /^Why/ }).inputValue()).toBe(`Ticket ${title}`);
    await question.getByRole("button", { name: "Apply" }).click();
    await page.getByText(`timed is DEBUG in production ${title}.`).waitFor();
  }
  await page.goto("/loggers/timed?tab=history");
  await page.getByText("Why: Ticket for 30 min").waitFor();
  await page.getByText("Why: Ticket for 2 h 30 min").waitFor();
});

test("the note for a level survives a click outside and a reload", async () => {
  const page = await w.open("/loggers?q=timed");
  const note = page.getByLabel("Why (optional, for the history)");
  await page.getByRole("button", { name: pill("timed") }).click();
  await note.fill("Ticket 5");
  await page.mouse.click(5, 400);
  await page.getByRole("alertdialog", { name: "Discard what you typed?" }).getByRole("button", { name: "Keep editing" }).click();
  await note.press("Escape");
  await page.getByRole("alertdialog", { name: "Discard what you typed?" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: pill("timed") }).click();
  await page.getByText("This is what you typed").waitFor();
  expect(await note.inputValue()).toBe("Ticket 5");
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await note.inputValue()).toBe("");
});

test("a filter keeps the levels of the branches above, and a frozen environment shows the levels that it has", async () => {
  const page = await w.open("/loggers?q=child");
  await page.getByRole("button", { name: `${pill("deep.child")}: ` }).waitFor();
  await page.getByRole("button", { name: new RegExp(`^${pill("deep")}: \\w+ own`, "i") }).waitFor();

  await w.server.api("POST", "/api/v1/environments", envelope("environment", "old", { name: "Old" }));
  const environments = { old: { level: "ERROR" } };
  await w.server.api("PUT", "/api/v1/loggers/shop.frozen", envelope("logger", "shop.frozen", { environments }));
  await w.server.api("PUT", "/api/v1/environments/old", envelope("environment", "old", { name: "Old", managed: false }));
  await page.goto("/loggers?q=frozen&env=old");
  await page.getByRole("button", { name: "Level of shop.frozen in Old: ERROR own" }).waitFor();
});

test("a viewer sees everything and is told why nothing can be changed", async () => {
  const made = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "viewer", role: "VIEWER" } },
  });
  const page = await w.open("/loggers", { key: made.data.attributes.key });
  await page
    .getByRole("button", { name: pill("shop.payments") })
    .first()
    .click();
  await page.getByText("Requires the role Member.").first().waitFor();
  expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
});

test("a logger's page explains its level, and its history reverts", async () => {
  await w.server.api(
    "PUT",
    "/api/v1/loggers/shop.other",
    envelope("logger", "shop.other", { environments: { production: { level: "FATAL" } } }),
  );
  const page = await w.open("/loggers/shop.other");
  await page.getByRole("listitem").filter({ hasText: "This logger in production" }).and(page.locator("[aria-current=step]")).waitFor();
  await page.getByRole("cell", { name: "checkout" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByRole("button", { name: "Revert…" }).first().click();
  await page.getByRole("button", { name: "Revert", exact: true }).click();
  await page.getByText("discovered", { exact: false }).first().waitFor();
});

test("a phone sets a level with a thumb", async () => {
  const page = await w.open("/loggers?q=shop.payments&view=list", { viewport: { width: 390, height: 800 }, hasTouch: true });
  await page
    .getByRole("button", { name: pill("shop.payments") })
    .first()
    .tap();
  await page.getByRole("radio", { name: "TRACE" }).tap();
  await page.getByRole("button", { name: "Apply" }).tap();
  await page
    .getByRole("dialog", { name: "Set shop.payments to TRACE in production for 15 min" })
    .getByRole("button", { name: "Apply" })
    .tap();
  await page.getByRole("button", { name: `${pill("shop.payments")}: TRACE own` }).waitFor();
  await expectAccessible(page);
});

test("groups are listed with their levels, and one is deleted with the keyboard alone", async () => {
  await w.server.api("POST", "/api/v1/log_groups", envelope("log_group", "sql", { level: "WARN" }));
  const page = await w.open("/log-groups");
  await page.getByRole("link", { name: "sql" }).waitFor();
  await expectAccessible(page);
  await tabTo(page, page.locator('[data-cell="0:0"]'));
  await page.keyboard.press("Enter");
  await page.getByText("No members yet").waitFor();
  await expectAccessible(page);
  await tabTo(page, page.getByRole("button", { name: "Delete" }));
  await page.keyboard.press("Enter");
  await answer(page, "Delete the group sql");
  await page.getByText("Deleted the group sql.").waitFor();
  await page.waitForURL(/log-groups$/);
});

test("a logger is dragged into a group; another is added and removed with the keyboard alone", async () => {
  await w.server.api("POST", "/api/v1/log_groups", envelope("log_group", "http", { level: "WARN" }));
  const groupOf = async (id: string) => (await w.server.api("GET", `/api/v1/loggers/${id}`)).data.attributes.group;
  const page = await w.open("/log-groups/http");
  const members = page.getByRole("region", { name: "Members" });
  const others = page.getByRole("region", { name: "Other loggers" });
  await others.getByRole("listitem").filter({ hasText: "shop.catalog" }).dragTo(members);
  await answer(page, "Put shop.catalog into the group http");
  await members.getByRole("link", { name: "shop.catalog" }).waitFor();
  expect(await groupOf("shop.catalog")).toBe("http");

  await tabTo(page, page.getByRole("textbox", { name: "Search other loggers" }));
  await page.keyboard.type("keys");
  await others.getByRole("listitem").nth(1).waitFor({ state: "detached" });
  await tabTo(page, others.getByRole("button", { name: "Add shop.keys" }));
  await page.keyboard.press("Enter");
  await answer(page, "Put shop.keys into the group http");
  await members.getByRole("link", { name: "shop.keys" }).waitFor();
  await expectAccessible(page);
  await members.getByRole("button", { name: "Remove shop.keys" }).focus();
  await page.keyboard.press("Enter");
  await answer(page, "Take shop.keys out of its group");
  await members.getByRole("link", { name: "shop.keys" }).waitFor({ state: "detached" });
  expect(await groupOf("shop.keys")).toBeNull();
});
