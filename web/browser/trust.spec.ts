import { expect } from "vitest";
import { envelope, test, world } from "./harness";

/** These tests are about what must not happen: a blank page, lost text, an action that is done twice, a false word. */
const w = world(async (server) => {
  for (const id of ["stopped"])
    await server.api("POST", "/api/v1/flags", envelope("flag", id, { type: "BOOLEAN", default: false }));
});

test("the page stays when the server stops, and says why a click does nothing", async () => {
  const page = await w.open("/flags?q=stopped&env=production", { fresh: true }); // nothing is in its cache
  const toggle = page.getByRole("switch", { name: "stopped in Production" });
  await toggle.waitFor();
  await w.server.leave();
  await toggle.click({ force: true });
  await page.getByRole("alert").getByText("Switch stopped off in Production: failed").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("alert").getByText("Search: failed").waitFor();
  await page.getByRole("link", { name: "Environments" }).click();
  await page.getByText("This part of the console is loaded when the server can be reached again.").waitFor();
  await w.server.restart();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Environments" }).waitFor();
});

test("after an upgrade the page is loaded again, once", async () => {
  const page = await w.open("/flags?q=stopped", { fresh: true });
  await page.getByRole("switch").first().waitFor();
  let loads = 0;
  page.on("framenavigated", () => loads++);
  await page.route("**/assets/KeyHelp-*", (route) => route.fulfill({ status: 404 }));
  await page.route(w.server.url + "/", (route) =>
    route.fulfill({ contentType: "text/html", body: '<script type="module" crossorigin src="/assets/index-upgraded.js"></script>' }),
  );
  await page.keyboard.press("?");
  await page.waitForEvent("load");
  await page.getByRole("switch").first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("alert").getByText("A part of the console could not be loaded.").waitFor();
  expect(loads).toBe(1);
});
