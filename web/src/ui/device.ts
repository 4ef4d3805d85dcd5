/** device returns a readable name for the program of a User-Agent. */
export function device(agent: string): string {
  const terminal = /^signalbox-cli\/\S+(?: \(([^)]+)\))?/.exec(agent);
  if (terminal) return terminal[1] ? `Command line on ${terminal[1]}` : "Command line";
  const browser = [
    ["Edg/", "Edge"],
    ["Firefox/", "Firefox"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ].find(([mark]) => agent.includes(mark as string))?.[1];
  if (!browser) return agent.split(" ")[0] || "an unknown program";
  const system = [
    ["Android", "Android"],
    ["iPhone", "iPhone"],
    ["Windows", "Windows"],
    ["Mac OS", "macOS"],
    ["Linux", "Linux"],
  ].find(([mark]) => agent.includes(mark as string))?.[1];
  return system ? `${browser} on ${system}` : browser;
}

/** clientOf splits a User-Agent such as signalbox-go/0.1.0 (linux) into the library and its version. */
export function clientOf(agent: string): { name: string; version: string } {
  const [name = "", version = ""] = (agent.split(" ")[0] ?? "").split("/");
  if (name === "Mozilla") return { name: device(agent), version: "" };
  return { name: name || "unknown", version };
}
