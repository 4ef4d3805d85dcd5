import { expect } from "vitest";
import { violations } from "./axe";
import { answer, envelope, fixture, test } from "./harness";

/** These tests are about failures that must not happen: a blank page, lost text, an action that is done twice, a wrong message. */
const w = fixture(async (server) => {
  for (const id of ["stopped", "drafted", "ended", "contested", "upgraded", "slow", "unknown", "doomed"])
    await server.api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));
  await server.api("POST", "/api/v1/flags", envelope("flag", "limits", { type: "JSON", default: { limit: 1 } }));
  await server.api("POST", "/api/v1/flags", envelope("flag", "cut", { type: "BOOLEAN", default: false }));
  await server.api("POST", "/api/v1/configs", envelope("config", "app", { items: { limit: { value: 10 } } }));
  await server.api("POST", "/api/v1/configs", envelope("config", "doomed", { items: { limit: { value: 10 } } }));
  await server.api("POST", "/api/v1/log_groups", envelope("log_group", "doomed", {}));
  const managed = { name: "Staging", managed: true };
  await server.api("PUT", "/api/v1/environments/staging", envelope("environment", "staging", managed));
  const report = { id: "shop", service: "checkout", environment: "production", level: "INFO", resolved_level: "INFO" };
  await server.api("POST", "/api/v1/loggers/bulk", { loggers: [report] });
  const configuration = { method: "GET", url: `${server.url}/api/liveness` };
  for (const id of ["nightly", "doomed"])
    await server.api("POST", "/api/v1/jobs", envelope("job", id, { name: id, schedule: "0 3 * * *", configuration }));
});

test("the page stays when the server stops, and says why a click does nothing", async () => {
  const page = await w.open("/flags?q=stopped&env=production", { fresh: true }); // with an empty cache
  const toggle = page.getByRole("switch", { name: "stopped in Production" });
  await toggle.waitFor();
  await w.server.leave();
  try {
    await toggle.click();
    await page.getByRole("alert").getByText("Switch stopped off in Production: failed").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("alert").getByText("Search: failed").waitFor();
    await page.getByRole("link", { name: "Environments" }).click();
    await page.locator(".empty").getByText("This part of the console is loaded when the server can be reached again.").waitFor();
  } finally {
    await w.server.restart();
  }
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Environments" }).waitFor();
});

test("after an upgrade the page is loaded again, once, with what was typed", async () => {
  const page = await w.open("/flags/upgraded?tab=production", { fresh: true });
  await page.getByRole("button", { name: "Add rule" }).click();
  const description = page.getByRole("textbox", { name: "Description" });
  await description.fill("Typed before the upgrade");
  let loads = 0;
  page.on("framenavigated", () => loads++);
  await page.route("**/assets/CodeMirrorEditor-*", (route) => route.fulfill({ status: 404 }));
  await page.route(`${w.server.url}/`, (route) =>
    route.fulfill({ contentType: "text/html", body: '<script type="module" crossorigin src="/assets/index-upgraded.js"></script>' }),
  );
  const again = page.waitForEvent("load");
  await page.getByText("JSON Logic").click();
  await again;
  await page.getByText("This is what you typed").waitFor();
  await page.getByRole("alert").getByText("A part of the console could not be loaded.").waitFor();
  expect(await description.inputValue()).toBe("Typed before the upgrade");
  expect(loads).toBe(1);
});

test("what is typed survives Escape, a reload and Back", async () => {
  const page = await w.open("/flags/drafted?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("textbox", { name: "Description" }).fill("Half a rule");
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog", { name: "Discard what you typed?" }).getByRole("button", { name: "Keep editing" }).click();
  await page.reload();
  await page.getByText("This is what you typed").waitFor();
  expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Half a rule");

  await page.goto("/jobs/nightly?tab=edit");
  await page.getByRole("textbox", { name: "Description" }).fill("Half a job");
  await page.goBack();
  await page.getByRole("dialog", { name: "New rule in Production" }).getByText("This is what you typed").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.goForward();
  await page.getByText("This is what you typed").waitFor();
  expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Half a job");
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("");
});

test("what is typed about a flag and into a config survives a reload too", async () => {
  const page = await w.open("/flags/drafted?tab=values");
  await page.getByRole("textbox", { name: "Description" }).fill("Half a description");
  await page.reload();
  await page.getByText("This is what you typed").waitFor();
  expect(await page.getByRole("textbox", { name: "Description" }).inputValue()).toBe("Half a description");
  await page.goto("/configs/app?edit=limit@staging");
  await page.getByRole("textbox", { name: "limit in Staging" }).fill("12");
  await page.reload();
  await page.getByText("This is what you typed").waitFor();
  expect(await page.getByRole("textbox", { name: "limit in Staging" }).inputValue()).toBe("12");
  await page.getByRole("textbox", { name: "limit in Staging" }).fill("");
  await page.getByText("must be a number such as 1500 or 0.5").waitFor(); // an emptied number is not 0
});

test("what is typed into a short form survives Escape and a reload", async () => {
  const page = await w.open("/");
  for (const [path, label, text] of [
    ["/environments?new=1", "Id", "qa"],
    ["/environments?id=staging", "Name", "Stage"],
    ["/keys?new=1", "Name", "ci"],
    ["/people?new=1", "E-mail", "grace@example.com"],
    ["/log-groups?new=1", "Id", "http"],
  ] as const) {
    await page.goto(path);
    const field = page.getByRole("dialog").getByLabel(label);
    await field.fill(text);
    await field.press("Escape");
    await page.getByRole("alertdialog", { name: "Discard what you typed?" }).getByRole("button", { name: "Keep editing" }).click();
    await page.reload();
    await page.getByText("This is what you typed").waitFor();
    expect(await field.inputValue(), path).toBe(text);
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("This is what you typed").waitFor({ state: "detached" });
  }
  await page.goto("/settings");
  const name = page.getByRole("region", { name: "Account" }).getByLabel("Name");
  await name.fill("Half a name");
  await page.reload();
  await page.getByText("This is what you typed").waitFor();
  expect(await name.inputValue()).toBe("Half a name");
});

test("somebody else's change of an environment leaves alone what is being typed", async () => {
  const page = await w.open("/environments?id=staging");
  const panel = page.getByRole("dialog");
  await panel.getByLabel("Name").fill("Mine");
  await w.server.api(
    "PUT",
    "/api/v1/environments/staging",
    envelope("environment", "staging", { name: "Staging", color: "#00aa77", managed: true }),
  );
  await panel.getByText("Somebody changed this environment").waitFor();
  expect(await panel.getByLabel("Name").inputValue()).toBe("Mine");
  await panel.getByRole("button", { name: "Discard mine, show theirs" }).click();
  expect(await panel.getByLabel("Name").inputValue()).toBe("Staging");
  expect(await panel.getByLabel("Color").inputValue()).toBe("#00aa77");
});

test("a resource that somebody deletes is said to be deleted, and what is typed about it stays", async () => {
  const page = await w.open("/flags/doomed?tab=production&rule=new");
  const description = page.getByRole("textbox", { name: "Description" });
  await description.fill("Half a rule");
  await w.server.api("DELETE", "/api/v1/flags/doomed");
  await page
    .getByRole("dialog", { name: "New rule in Production" })
    .getByText(/Deleted by \S+/)
    .waitFor();
  expect(await description.inputValue()).toBe("Half a rule");
  expect(await page.getByRole("button", { name: "Add", exact: true }).isDisabled()).toBe(true);

  await page.goto("/jobs/doomed?tab=edit");
  await page.getByRole("textbox", { name: "Description" }).fill("Half a job");
  await w.server.api("DELETE", "/api/v1/jobs/doomed");
  await page.getByText(/Deleted by \S+/).waitFor();
  for (const name of ["Run now", "Save", "Delete…"]) expect(await page.getByRole("button", { name, exact: true }).isDisabled()).toBe(true);
  expect(await page.getByRole("textbox", { name: "Description" }).isEnabled()).toBe(true);

  for (const [screen, path, kept] of [
    ["/configs", "configs", "New item"],
    ["/log-groups", "log_groups", "Delete"],
  ]) {
    await page.goto(`${screen}/doomed`);
    await page.getByRole("button", { name: kept, exact: true }).waitFor();
    await w.server.api("DELETE", `/api/v1/${path}/doomed`);
    await page.getByText(/Deleted by \S+/).waitFor();
    expect(await page.getByRole("button", { name: kept, exact: true }).isDisabled()).toBe(true);
  }
  await page.getByRole("link", { name: "Its history" }).click();
  await page.waitForURL(/history\?kind=log_group&id=doomed/);
});

test("a server that does not answer any more is noticed, by a click and without one", async () => {
  const page = await w.open("about:blank", { fresh: true });
  await page.clock.install();
  await page.goto("/flags?q=cut&env=staging");
  await page.getByText("Live").waitFor();
  const toggle = page.getByRole("switch", { name: "cut in Staging" });
  await toggle.waitFor();
  w.server.freeze();
  try {
    await toggle.click();
    await page.waitForFunction(() => document.querySelector("[role=switch][aria-busy=true]"));
    await page.clock.fastForward(10_100);
    await page.getByRole("alert").getByText("Switch cut off in Staging: failed").waitFor();
    await page.getByText("Reconnecting").waitFor();
  } finally {
    w.server.thaw();
  }
  await page.getByText("Live").waitFor();
  w.server.freeze();
  try {
    await page.clock.fastForward(46_000);
    await page.getByText("Reconnecting").waitFor();
  } finally {
    w.server.thaw();
  }
});

test("a write whose answer is cut off is looked up, and said as it is", async () => {
  const page = await w.open("/flags?q=cut&env=staging");
  const toggle = page.getByRole("switch", { name: "cut in Staging" });
  await toggle.waitFor();
  await page.route("**/api/v1/flags/cut", async (route) => {
    if (route.request().method() !== "PUT") return route.continue();
    await route.fetch();
    await route.abort();
  });
  await toggle.click();
  await page.getByText("cut is off in Staging.").waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0); // the console does not know the number of the change
});

test("what nobody can know is said to be unknown, and then shown as it is", async () => {
  const page = await w.open("/flags?q=unknown&env=staging");
  const name = "unknown in Staging";
  await page.getByRole("switch", { name, checked: true }).waitFor();
  let isCut = false;
  await page.route("**/api/v1/flags/unknown", async (route) => {
    if (route.request().method() !== "PUT" && !isCut) return route.continue();
    if (!isCut) await route.fetch();
    isCut = true;
    await route.abort();
  });
  await page.getByRole("switch", { name }).click();
  const alert = page.getByRole("alert");
  await alert.getByText("Switch unknown off in Staging: no answer").waitFor();
  await alert.getByText("it is not known whether this was done").waitFor();
  await page.getByRole("switch", { name, checked: false }).waitFor();
});

test("while the server is slow, a control is pending and a second click does nothing", async () => {
  const page = await w.open("/flags?q=slow&env=staging");
  let go = () => {};
  const slow = new Promise<void>((resolve) => {
    go = resolve;
  });
  let writes = 0;
  await page.route("**/api/v1/flags/slow", async (route) => {
    if (route.request().method() === "PUT") {
      writes++;
      await slow;
    }
    await route.continue();
  });
  const toggle = page.getByRole("switch", { name: "slow in Staging" });
  await toggle.click();
  await page.waitForFunction(() => document.querySelector("[role=switch][aria-busy=true]"));
  await toggle.click();
  go();
  await page.getByText("slow is off in Staging.").waitFor();
  await page.waitForFunction(() => document.querySelector("[role=switch][aria-busy=false]"));
  expect(writes).toBe(1);
});

test("a message has the sentence of the change, and lies below dialogs", async () => {
  const page = await w.open("/flags?q=stopped&env=staging");
  await page.getByRole("switch", { name: "stopped in Staging", checked: true }).click();
  const message = page.getByRole("status").filter({ hasText: "stopped is off in Staging." });
  await message.getByText("Turned off").waitFor();
  await message.hover(); // it stays
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  const isOnTop = await page.locator("[role=status]", { hasText: "stopped is off in Staging." }).evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
  expect(isOnTop).toBe(false);
});

test("an edit survives the end of the session, and is saved after the sign-in", async () => {
  const page = await w.open("/flags/ended?tab=production");
  await page.getByRole("button", { name: "Add rule" }).click();
  await page.getByRole("textbox", { name: "Value" }).fill("alice");
  await page.context().request.delete("/api/v1/sessions/current");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  const again = page.getByRole("dialog", { name: "Your session has ended" });
  await again.getByRole("button", { name: "Sign in with an API key" }).click();
  await again.getByLabel("API key").fill(w.server.key);
  await again.getByRole("button", { name: "Sign in", exact: true }).click();
  await answer(page, /^Add a rule of ended/);
  await page.getByRole("listitem", { name: "user.key is alice" }).waitFor();
  await page.getByText("Live").waitFor();
});

test("a double click acts once", async () => {
  const page = await w.open("/jobs/nightly");
  const keys: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/actions/run")) keys.push(request.headers()["idempotency-key"]);
  });
  await page.getByRole("button", { name: "Run now" }).dblclick();
  await page.getByRole("heading", { name: "Run", exact: true }).waitFor();
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  await page.goto("/keys?new=1");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("pressed twice");
  await page.getByRole("button", { name: "Create the key" }).dblclick();
  await page.getByRole("status", { name: "The key pressed twice" }).waitFor();
  const { data } = await w.server.api<{ data: { attributes: { name: string } }[] }>("GET", "/api/v1/api_keys");
  expect(data.filter(({ attributes }) => attributes.name === "pressed twice")).toHaveLength(1);
});

test("a viewer sees what is on, in a frozen environment too, and one message at a time", async () => {
  await w.server.api("POST", "/api/v1/environments", envelope("environment", "old", { name: "Old" }));
  await w.server.api("PUT", "/api/v1/environments/old", envelope("environment", "old", { name: "Old", managed: false }));
  const made = await w.server.api<{ data: { attributes: { key: string } } }>("POST", "/api/v1/api_keys", {
    data: { type: "api_key", attributes: { name: "viewer", role: "VIEWER" } },
  });
  const page = await w.open("/flags/stopped?tab=old", { key: made.data.attributes.key });
  await page.getByRole("switch", { name: "On: the rules apply" }).waitFor();
  expect(await page.getByRole("switch").first().isDisabled()).toBe(true);
  const owner = await w.open("/flags?q=dr&env=staging");
  const toggle = owner.getByRole("switch", { name: "drafted in Staging" });
  for (const state of ["off", "on"]) {
    await toggle.click();
    await owner.getByText(`drafted is ${state} in Staging.`).waitFor();
  }
  expect(await owner.getByRole("button", { name: "Undo" }).count()).toBe(1);
});

test("a text that is no value is refused with a sentence", async () => {
  const page = await w.open("/flags/limits?tab=values");
  const editor = page.getByRole("textbox", { name: "Default for environments without their own" });
  await editor.fill('{"limit": 2}5');
  await page.getByText("must be JSON:").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("alert")
    .getByText(/^The default must be JSON: .*\.$/)
    .waitFor();
  const { data } = await w.server.api("GET", "/api/v1/flags/limits");
  expect(data.attributes.default).toEqual({ limit: 1 });
});

const when = (key: string) => ({ description: "", logic: { "==": [{ var: "user.key" }, key] }, value: true });
const put = (id: string, production: object) =>
  w.server.api("PUT", `/api/v1/flags/${id}`, envelope("flag", id, { type: "BOOLEAN", default: false, environments: { production } }));

test("mine on top of somebody else's change of the same rule replaces it, and my default stays", async () => {
  await put("contested", { enabled: true, default: null, rules: [when("alice")] });
  const page = await w.open("/flags/contested?tab=production");
  const otherwise = page.getByRole("combobox", { name: "Otherwise, the flag's own default" });
  await otherwise.selectOption("true");
  await page.getByRole("button", { name: "Edit user.key is alice" }).click();
  await page.getByRole("textbox", { name: "Value" }).fill("mine");
  await put("contested", { enabled: true, default: false, rules: [when("theirs")] });
  await page.getByRole("button", { name: "Save" }).last().click();
  const conflict = page.getByRole("dialog", { name: "Somebody else changed this" });
  await conflict.getByRole("button", { name: "Apply mine on top" }).click();
  const question = page.getByRole("dialog", { name: /^Change a rule/ });
  await question.getByRole("textbox", { name: /^Why/ }).fill("Ticket 7");
  await question.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("listitem", { name: "user.key is mine" }).waitFor();
  expect(await page.getByRole("list", { name: "Rules in order" }).getByRole("listitem").count()).toBe(1);
  await page.getByText("Somebody changed it to false while you were typing.").waitFor();
  expect(await page.getByRole("combobox", { name: "Otherwise" }).inputValue()).toBe("true");
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("Why: Ticket 7").waitFor();
});

test("a page that does not exist, the level picker and code on a phone are accessible", async () => {
  const page = await w.open("/nowhere");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  expect(await page.title()).toBe("Page not found · Signalbox");
  expect(await violations(page)).toEqual([]);
  await page.goto("/loggers");
  await page.getByRole("button", { name: /^Level of shop in Production/i }).click();
  await page.getByRole("dialog", { name: "Set a level" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BODY");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto("/flags/limits?tab=code");
  await page.getByText("OpenFeature (OFREP)").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("what is typed and pasted right after Ctrl-K is kept", async () => {
  const page = await w.open("/flags", { fresh: true });
  await page.getByRole("switch").first().waitFor();
  let load = () => {};
  const typed = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route("**/assets/Palette-*.js", async (route) => {
    await typed;
    await route.continue();
  });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("lim");
  await page.evaluate(() => {
    const clipboardData = new DataTransfer(); // the clipboard itself is shared with other tests
    clipboardData.setData("text/plain", "its");
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  });
  load();
  const field = page.getByRole("combobox", { name: "Search everything" });
  await field.waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('input[role="combobox"]')?.value === "limits");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "limits" }).waitFor();
  expect(await page.title()).toBe("limits · Flags · Signalbox");
});
