import { expect } from "vitest";
import { expectAccessible } from "./axe";
import { answer, envelope, fixture, tabTo, test } from "./harness";

const off = { enabled: true, default: null, rules: [] };

const w = fixture(async (server) => {
  for (const id of ["checkout", "restarted", "contested", "keys", "typed"])
    await server.api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));
  await server.api("POST", "/api/v1/contexts/bulk", { contexts: [{ type: "user", key: "alice", attributes: { plan: "pro" } }] });
});

test("a flag is created, targeted, explained, killed and reverted", async () => {
  const page = await w.open("/flags");
  await page.getByRole("button", { name: "New flag" }).click();
  await page.getByRole("dialog").getByLabel("Id").fill("new-search");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "new-search" }).waitFor();

  await page.getByRole("tab", { name: "Production" }).click();
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("combobox", { name: "Attribute" }).fill("user.plan");
  await page.getByRole("textbox", { name: "Value" }).fill("pro");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("dialog", { name: "Add a rule of new-search in Production" }).getByRole("button", { name: "Apply" }).click();
  await page.getByRole("listitem", { name: "user.plan is pro" }).waitFor();
  await expectAccessible(page);

  // The lists of contexts arrive after the last key.
  let typed = () => {};
  const typing = new Promise<void>((resolve) => {
    typed = resolve;
  });
  await page.route(/\/api\/v1\/contexts\?/, async (route) => {
    await typing;
    await route.continue();
  });
  await page.getByRole("tab", { name: "Why" }).click();
  await page.getByRole("combobox", { name: "A context that services reported" }).fill("user:alice");
  typed();
  const answer = page.getByRole("region", { name: "Answer in Production" });
  await answer.getByText("Rule matched").waitFor();
  await answer.getByText("true", { exact: true }).first().waitFor();
  await answer.getByText("How it was decided").click();
  await answer
    .getByText('"pro"', { exact: false })
    .or(answer.getByText("pro", { exact: true }))
    .first()
    .waitFor();
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Production" }).click();
  await page.getByRole("switch", { name: /On:/ }).click();
  await page.getByRole("dialog", { name: "Switch new-search off in Production" }).getByRole("button", { name: "Apply" }).click();
  await page.getByRole("switch", { name: /Off:/ }).waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByRole("button", { name: "Revert…" }).first().click();
  await page.getByRole("button", { name: "Revert", exact: true }).click();
  await page.getByRole("tab", { name: "Production" }).click();
  await page.getByRole("switch", { name: /On:/ }).waitFor();
}, 120_000);

test("what is being typed survives a restart of the server", async () => {
  const page = await w.open("/flags/restarted?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Typed before the restart");
  await w.server.restart();
  await page.getByText("Live").waitFor();
  expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Typed before the restart");
  await page.getByRole("textbox", { name: "Value" }).fill("alice");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page
    .getByRole("dialog", { name: /^Add a rule/ })
    .getByRole("button", { name: "Apply" })
    .click();
  await page.getByRole("listitem", { name: "Typed before the restart" }).waitFor();
});

test("who comes second sees both versions and decides", async () => {
  const page = await w.open("/flags/contested?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("textbox", { name: "Value" }).fill("mine");
  await w.server.api(
    "PUT",
    "/api/v1/flags/contested",
    envelope("flag", "contested", { type: "BOOLEAN", default: false, description: "theirs", environments: { production: off } }),
  );
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const conflict = page.getByRole("dialog", { name: "Somebody else changed this" });
  await conflict.getByText("theirs", { exact: true }).first().waitFor();
  await conflict.getByRole("button", { name: "Apply mine on top" }).click();
  await page
    .getByRole("dialog", { name: /^Add a rule/ })
    .getByRole("button", { name: "Apply" })
    .click();
  await page.getByRole("listitem", { name: "user.key is mine" }).waitFor();
  const { data } = await w.server.api("GET", "/api/v1/flags/contested");
  expect(data.attributes.description).toBe("theirs");
});

test("a switch is one key in the list", async () => {
  const page = await w.open("/flags?q=keys&env=production");
  await page.getByRole("switch", { name: "keys in Production" }).waitFor();
  await page.locator('[data-cell="0:0"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await answer(page, "Switch keys off in Production");
  await page.getByText("keys is off in Production.").waitFor();
  await expectAccessible(page);
});

const when = (key: string) => ({ description: "", logic: { "==": [{ var: "user.key" }, key] }, value: true });

/** rulesOf returns the users that the rules of a flag name, in order. */
async function rulesOf(id: string): Promise<string[]> {
  const { data } = await w.server.api<{ data: { attributes: { environments: { production: { rules: ReturnType<typeof when>[] } } } } }>(
    "GET",
    `/api/v1/flags/${id}`,
  );
  return data.attributes.environments.production.rules.map(({ logic }) => logic["=="][1] as string);
}

test("the keyboard alone adds a rule with the builder, and moves it to the front", async () => {
  const environments = { production: { enabled: true, default: null, rules: [when("alice")] } };
  await w.server.api("PUT", "/api/v1/flags/typed", envelope("flag", "typed", { type: "BOOLEAN", default: false, environments }));
  const page = await w.open("/flags/typed?tab=production");
  await tabTo(page, page.getByRole("button", { name: "Add rule" }));
  await page.keyboard.press("Enter");
  await tabTo(page, page.getByRole("textbox", { name: "Value" }));
  await page.keyboard.type("bob");
  await page.keyboard.press("Enter");
  await answer(page, /^Add a rule of typed/);
  await page.getByRole("listitem", { name: "user.key is bob" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await tabTo(page, page.getByRole("button", { name: "Move user.key is bob" }));
  for (const key of ["Space", "ArrowUp", "Space"]) await page.keyboard.press(key);
  await answer(page, /^Move a rule of typed/);
  await page.getByText("The rule was moved.").waitFor();
  expect(await rulesOf("typed")).toEqual(["bob", "alice"]);
  await expectAccessible(page);
});

test("a rule is dragged to its place", async () => {
  const environments = { production: { enabled: true, default: null, rules: [when("one"), when("two"), when("three")] } };
  await w.server.api("POST", "/api/v1/flags", envelope("flag", "dragged", { type: "BOOLEAN", default: false, environments }));
  const page = await w.open("/flags/dragged?tab=production");
  const rules = page.getByRole("list", { name: "Rules in order" }).getByRole("listitem");
  await rules.filter({ hasText: "three" }).dragTo(rules.first());
  await answer(page, /^Move a rule of dragged/);
  await page.getByText("The rule was moved.").waitFor();
  expect(await rulesOf("dragged")).toEqual(["three", "one", "two"]);
});

test("allowed values are a small table, and a wrong one is refused beside it", async () => {
  await w.server.api("POST", "/api/v1/flags", envelope("flag", "colors", { type: "NUMERIC", default: 1 }));
  const page = await w.open("/flags/colors?tab=values");
  await page.getByLabel("Any value").uncheck();
  for (const [index, text] of [
    ["1", "1"],
    ["2", "two"],
  ] as const) {
    await page.getByRole("button", { name: "Add a value" }).click();
    await page.getByLabel(`Name of value ${index}`).fill(`Number ${index}`);
    await page.getByLabel(`Value ${index}`, { exact: true }).fill(text);
  }
  await page.getByText("must be a number such as 1500 or 0.5").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Value 2", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Save" }).click();
  await answer(page, "Change colors");
  await page.getByText("Changed colors.").waitFor();
  const { data } = await w.server.api("GET", "/api/v1/flags/colors");
  expect(data.attributes.values).toEqual([
    { name: "Number 1", value: 1 },
    { name: "Number 2", value: 2 },
  ]);
});

test("an integer with more digits than a number keeps is written back as it was, and a text keeps its lines", async () => {
  const long = "9007199254740993";
  const headers = { Authorization: `Bearer ${w.server.key}`, "Content-Type": "application/json" };
  const body = `{"data":{"type":"flag","id":"long","attributes":{"type":"NUMERIC","default":${long}}}}`; // JSON.stringify would round it
  await fetch(`${w.server.url}/api/v1/flags`, { method: "POST", headers, body });
  const stored = async () => (await fetch(`${w.server.url}/api/v1/flags/long`, { headers })).text();
  expect(await stored()).toContain(`"default":${long}`);
  const page = await w.open("/flags/long?tab=production");
  await page.getByRole("switch", { name: /On:/ }).click();
  await page.getByRole("dialog", { name: "Switch long off in Production" }).getByRole("button", { name: "Apply" }).click();
  await page.getByRole("switch", { name: /Off:/ }).waitFor();
  expect(await stored()).toContain(`"default":${long}`);

  await w.server.api("POST", "/api/v1/flags", envelope("flag", "lines", { type: "STRING", default: "one\ntwo" }));
  await page.goto("/flags/lines?tab=production");
  await page.getByRole("textbox", { name: /Otherwise/ }).press("Control+End");
  await page.keyboard.type("!");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page
    .getByRole("dialog", { name: /Change the default/ })
    .getByRole("button", { name: "Apply" })
    .click();
  await page.getByRole("button", { name: /Use the flag's default/ }).waitFor();
  const { data } = await w.server.api("GET", "/api/v1/flags/lines");
  expect(data.attributes.environments).toMatchObject({ production: { default: "one\ntwo!" } });
});

test("a version is compared as a version, because services reported versions", async () => {
  const contexts = [{ type: "app", key: "shop", attributes: { version: "2.9.0" } }];
  await w.server.api("POST", "/api/v1/contexts/bulk", { contexts });
  await w.server.api("POST", "/api/v1/flags", envelope("flag", "versions", { type: "BOOLEAN", default: false }));
  const page = await w.open("/flags/versions?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("combobox", { name: "Attribute" }).fill("app.version");
  await page.getByRole("combobox", { name: "Comparison" }).selectOption({ label: "is at least version" });
  await page.getByRole("textbox", { name: "Value" }).fill("2.10.0");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await answer(page, /^Add a rule of versions/);
  await page.getByRole("listitem", { name: /app\.version.*2\.10\.0/ }).waitFor();
  const asked = { environment: "production", context: { app: { key: "shop", version: "2.9.0" } } };
  const found = await w.server.api<{ value?: unknown }>("POST", "/api/v1/flags/versions/actions/evaluate", asked);
  expect(JSON.stringify(found)).toContain('"value":false');
});

test("on a phone, a card leads to the rules below the screen", async () => {
  await w.server.api(
    "POST",
    "/api/v1/flags",
    envelope("flag", "carded", { type: "BOOLEAN", default: false, description: "x".repeat(400) }),
  );
  const page = await w.open("/flags/carded", { viewport: { width: 390, height: 850 } });
  const link = page.getByRole("article", { name: "Served in Production" }).getByRole("link");
  await link.filter({ hasText: "Add rules" }).click();
  await page.getByRole("dialog", { name: "New rule in Production" }).getByRole("button", { name: "Cancel" }).click();
  expect(await page.evaluate(() => document.querySelector(".detail")?.scrollWidth)).toBe(390); // a long word is broken
  await w.server.api(
    "PUT",
    "/api/v1/flags/carded",
    envelope("flag", "carded", {
      type: "BOOLEAN",
      default: false,
      environments: { production: { enabled: true, default: null, rules: [when("alice")] } },
    }),
  );
  await page.evaluate(() => document.querySelector(".detail")?.scrollTo(0, 0));
  await link.filter({ hasText: /^Rules/ }).click();
  const list = page.getByRole("tablist", { name: "About this flag" });
  await page.waitForFunction(() => (document.querySelector("[role=tablist]")?.getBoundingClientRect().top ?? 850) < 600);
  expect(await list.locator("xpath=..").evaluate((tabs) => tabs === document.activeElement)).toBe(true);
});

test("a group of conditions and a date are built without JSON, and a question has the JSON one click away", async () => {
  await w.server.api("POST", "/api/v1/flags", envelope("flag", "grouped", { type: "BOOLEAN", default: false }));
  const page = await w.open("/flags/grouped?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("combobox", { name: "Attribute" }).fill("user.plan");
  await page.getByRole("textbox", { name: "Value" }).fill("pro");
  await page.getByRole("button", { name: "Add group" }).click();
  const group = page.getByRole("group", { name: "Group of conditions" });
  await group.getByRole("combobox", { name: "Attribute" }).first().fill("user.country");
  await group.getByRole("textbox", { name: "Value" }).first().fill("DE");
  await group.getByRole("combobox", { name: "Attribute" }).last().fill("user.since");
  await group.getByRole("combobox", { name: "Comparison" }).last().selectOption({ label: "is before" });
  await group.getByRole("textbox", { name: "Value" }).last().fill("2026-01-01");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const question = page.getByRole("dialog", { name: /^Add a rule of grouped/ });
  await question.getByText("Details").click();
  await question.getByText("user.since", { exact: false }).last().waitFor();
  await question.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("listitem", { name: /^user\.plan is pro/ }).waitFor();
  const served = async (country: string, since: string) => {
    const context = { user: { key: "alice", plan: "pro", country, since } };
    const found = await w.server.api<object>("POST", "/api/v1/flags/grouped/actions/evaluate", { environment: "production", context });
    return JSON.stringify(found).includes('"value":true');
  };
  expect(await Promise.all([served("DE", "2030-01-01"), served("FR", "2025-06-01"), served("FR", "2030-01-01")])).toEqual([
    true,
    true,
    false,
  ]);
});

test("a condition keeps its value when the one before it is removed, or comes back", async () => {
  const logic = { and: [{ "==": [{ var: "user.plan" }, "pro"] }, { "==": [{ var: "user.country" }, "DE"] }] };
  const rules = [{ description: "", logic, value: true }];
  const environments = { production: { enabled: true, default: null, rules } };
  await w.server.api("POST", "/api/v1/flags", envelope("flag", "shortened", { type: "BOOLEAN", default: false, environments }));
  const page = await w.open("/flags/shortened?tab=production&rule=1");
  const values = page.getByRole("textbox", { name: "Value" });
  await values.first().fill("team");
  await page.getByRole("button", { name: "Remove the condition on user.plan" }).click();
  expect(await values.inputValue()).toBe("DE");
  await page.reload();
  await page.getByText("This is what you typed").waitFor();
  expect(await values.inputValue()).toBe("DE");
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await Promise.all([values.first().inputValue(), values.last().inputValue()])).toEqual(["pro", "DE"]);
});

test("what is typed about a flag stays with that flag", async () => {
  // The first tab must be writable, because the palette leads to it.
  await w.server.api("PUT", "/api/v1/environments/staging", envelope("environment", "staging", { name: "Staging", managed: true }));
  for (const id of ["own-text", "other-text"])
    await w.server.api("POST", "/api/v1/flags", envelope("flag", id, { type: "STRING", default: `of ${id}` }));
  const page = await w.open("/flags/other-text");
  const field = page.getByRole("textbox", { name: /Otherwise/ });
  // A link within the page: both flags are loaded already, and so are the parts of the page.
  const goTo = async (id: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search everything" }).fill(id);
    await page.getByRole("option", { name: id }).first().click();
    await page.getByRole("heading", { name: id }).waitFor();
  };
  await field.waitFor();
  await goTo("own-text");
  await field.fill("half a text");
  await goTo("other-text");
  expect(await field.inputValue()).toBe("of other-text");
  expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
  await page.goBack();
  await page.getByRole("heading", { name: "own-text" }).waitFor();
  expect(await field.inputValue()).toBe("half a text");
});

test("the server says which flags are stale", async () => {
  const page = await w.open("/flags?q=checkout");
  await page.getByRole("link", { name: "checkout", exact: true }).waitFor();
  const asked = page.waitForRequest(
    /filter%5Bstale%5D=true&?.*filter%5Bsearch%5D=checkout|filter%5Bsearch%5D=checkout.*filter%5Bstale%5D=true/,
  );
  await page.getByRole("combobox", { name: "Use" }).selectOption("1");
  await asked;
  await page.getByText("No flag passes the filter").waitFor();
  expect(new URL(page.url()).searchParams.get("stale")).toBe("1");
});

test("while the server is away, what was read stays and nothing can be changed", async () => {
  const page = await w.open("about:blank", { fresh: true });
  await page.clock.install();
  await page.goto("/flags?q=checkout");
  await page.getByText("Live").waitFor();
  await page.getByRole("link", { name: "checkout" }).waitFor();
  await w.server.leave();
  await page.getByText("Reconnecting").waitFor();
  await page.clock.fastForward(11_000);
  await page.getByText("Offline").waitFor();
  await page.getByTitle("The server cannot be reached; nothing can be changed now.").first().waitFor();
  expect(await page.getByRole("button", { name: "New flag" }).isDisabled()).toBe(true);
  expect(await page.getByRole("link", { name: "checkout" }).isVisible()).toBe(true);
  await expectAccessible(page);
  await w.server.restart();
  await page.clock.fastForward(20_000);
  await page.getByText("Live").waitFor();
  expect(await page.getByRole("button", { name: "New flag" }).isEnabled()).toBe(true);
});
