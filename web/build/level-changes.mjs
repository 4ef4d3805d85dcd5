// Makes the picture of the README: a level changes in a running program, and ends by itself.
import { animate, take } from "./webp.mjs";

const logger = "shop.checkout";
const seconds = 8;
const [width, height] = [1600, 560];

/** levelChanges sets a temporary level and returns what the console and the log of a program show meanwhile. */
export async function levelChanges(browser, { url, signIn, printed }) {
  const console_ = await browser.newContext({ viewport: { width: 820, height: height - 40 }, reducedMotion: "reduce", baseURL: url });
  await signIn(console_, url);
  const screen = await console_.newPage();
  await screen.goto(`/loggers/${logger}?env=production`);
  await screen.getByText("Current level").waitFor();
  const stage = await (await browser.newContext({ viewport: { width, height } })).newPage();
  const since = Date.now();
  const frames = [];
  const frame = async (caption, milliseconds) => {
    const lines = printed()
      .split("\n")
      .filter((line) => line.includes(`logger=${logger}`) && timeOf(line) >= since)
      .map((line) => line.replace(/ service=\S+| msg="Serving a customer."| timeout_ms=\S+/g, ""));
    await stage.setContent(html(await screen.screenshot(), lines.slice(-15), caption));
    frames.push({ picture: await take(stage, 80), milliseconds });
  };

  await frame("The logger is at WARN: the program is quiet.", 3000);
  const level = { type: "logger", attributes: { environments: { production: { level: "DEBUG", ttl_seconds: seconds } } } };
  const written = await console_.request.put(`${url}/api/v1/loggers/${logger}`, {
    data: JSON.stringify({ data: level }),
    headers: { "Content-Type": "application/vnd.api+json", "X-Requested-With": "screenshots" },
  });
  if (!written.ok()) throw new Error(`setting the level: ${written.status()} ${await written.text()}`);
  for (let step = 0; step < 4; step++) {
    await screen.waitForTimeout(1500);
    await frame("DEBUG in production for a while: the program prints details at once.", 1500);
  }
  await screen.getByText("own", { exact: true }).waitFor({ state: "detached", timeout: 30_000 });
  const production = screen.getByRole("row", { name: "production" });
  for (let tries = 0; tries < 20 && !(await production.getByText("WARN").isVisible()); tries++) {
    await screen.waitForTimeout(1500); // the program reports its level after some seconds; until then it is quiet
    await screen.reload();
    await production.waitFor();
  }
  await frame("The time is over: the logger is at WARN again, by itself.", 5000);
  await stage.context().close();
  await console_.request.delete(`${url}/api/v1/sessions/current`);
  await console_.close();
  return animate(frames, { width, height, plays: 0 });
}

/** timeOf returns the instant of a line, which has the time of day only. */
function timeOf(line) {
  const [, time] = /time=([\d:.]+)/.exec(line) ?? [];
  return time ? new Date(`${new Date().toDateString()} ${time}`).getTime() : 0;
}

function html(picture, lines, caption) {
  const escaped = (text) => text.replace(/[&<]/g, (found) => ({ "&": "&amp;", "<": "&lt;" })[found]);
  const colored = lines.map((line) =>
    escaped(line)
      .replace(/level=(\w+)/, (_, level) => `<b class="${level}">level=${level}</b>`)
      .replace(/^time=/, ""),
  );
  return `<style>
    body { margin: 0; height: 100vh; display: grid; grid-template: 1fr 40px / 820px 1fr; background: #10171a; color: #d7e0e2; font: 14px/1.6 monospace; }
    pre { margin: 0; padding: 16px 20px; font: inherit; overflow: hidden; } i { color: #7f9499; font-style: normal; }
    p { grid-column: 1 / 3; margin: 0; font: 600 17px/40px sans-serif; text-align: center; background: #1d6f62; color: white; }
    .DEBUG { color: #6fb7ff; } .INFO { color: #6fdc8c; } .WARN { color: #ffc35c; } .ERROR { color: #ff8389; }
  </style><img src="data:image/png;base64,${picture.toString("base64")}"><pre><i>$ make demo | grep ${logger}</i>\n${colored.join("\n")}</pre><p>${caption}</p>`;
}
