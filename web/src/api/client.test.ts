import { afterEach, expect, test, vi } from "vitest";
import { ApiError, around, send } from "./client";

test("a sentence beside a member does not repeat its name", () => {
  const pointer = "/data/attributes/configuration/url";
  const problem = { status: "400", title: "Invalid", detail: "configuration/url must be an absolute URL.", source: { pointer } };
  const failure = new ApiError(400, "validation_error", problem.detail, "", [problem] as never);
  expect(failure.at(pointer)).toBe("must be an absolute URL.");
  expect(failure.at("/data/attributes/name")).toBeUndefined();
});

interface Sent {
  url: string;
  key: string | undefined;
}

/** serve answers the requests of a test one by one; "cut" is an answer that does not arrive. */
function serve(...answers: (Response | "cut" | "silent")[]): Sent[] {
  const sent: Sent[] = [];
  vi.stubGlobal("fetch", (url: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
    sent.push({ url, key: headers["Idempotency-Key"] });
    const answer = answers.shift();
    if (answer === "silent") return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    return answer === "cut" ? Promise.reject(new TypeError("network")) : Promise.resolve(answer);
  });
  return sent;
}

const refuse = (status: number, code: string, headers?: Record<string, string>) =>
  Response.json({ errors: [{ status: String(status), code, title: code }] }, { status, headers });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  Object.assign(around, { signIn: undefined, doubt: undefined });
});

test("an action that was not answered has the same key when it is tried again, and the next action another", async () => {
  const sent = serve("cut", Response.json({}), Response.json({}), refuse(409, "in_progress", { "Retry-After": "0" }), Response.json({}));
  const run = () => send("POST", "/api/v1/jobs/nightly/actions/run");
  await expect(run()).rejects.toMatchObject({ code: "unknown" });
  await run();
  await run();
  await run();
  const [first, again, second, third, repeated] = sent.map(({ key }) => key);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(again).toBe(first);
  expect(repeated).toBe(third);
  expect(new Set([first, second, third]).size).toBe(3);
});

test("what changes nothing has no key, and is never unknown", async () => {
  const sent = serve("cut", "cut", "cut");
  for (const ask of [
    send("GET", "/api/v1/flags"),
    send("POST", "/api/v1/flags", { query: { dry_run: true } }),
    send("POST", "/api/v1/flags/a/actions/evaluate"),
  ])
    await expect(ask).rejects.toMatchObject({ code: "offline" });
  expect(sent.map(({ key }) => key)).toEqual([undefined, undefined, undefined]);
});

test("a server that says nothing for 10 s makes the page doubt the connection", async () => {
  vi.useFakeTimers();
  serve("silent");
  around.doubt = vi.fn();
  const asked = expect(send("PUT", "/api/v1/flags/a", { body: {} })).rejects.toMatchObject({ code: "unknown" });
  await vi.advanceTimersByTimeAsync(9_900);
  expect(around.doubt).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  await asked;
  expect(around.doubt).toHaveBeenCalledOnce();
});

test("a request whose session has ended goes on after a new sign-in", async () => {
  const sent = serve(refuse(401, "unauthorized"), Response.json({ data: 1 }), refuse(401, "unauthorized"), refuse(401, "unauthorized"));
  around.signIn = vi.fn().mockResolvedValueOnce(true).mockResolvedValue(false);
  expect((await send("GET", "/api/v1/flags")).document).toEqual({ data: 1 });
  await expect(send("GET", "/api/v1/flags")).rejects.toMatchObject({ status: 401 });
  await expect(send("GET", "/api/v1/sessions/current", { anonymous: true })).rejects.toMatchObject({ status: 401 });
  expect(around.signIn).toHaveBeenCalledTimes(2);
  expect(sent).toHaveLength(4);
});
