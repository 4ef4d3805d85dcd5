import { expect, test } from "vitest";
import { readCurl, wordsOf } from "./curl";

const call = (command: string) => {
  const read = readCurl(command);
  if ("problem" in read) throw new Error(read.problem);
  return read.call;
};

test("a command is split as a shell does", () => {
  expect(wordsOf(`curl 'a b' "c \\"d\\" \\$e" f\\ g $'h\\n\\u0021' \\\n  i''j ""`)).toEqual([
    "curl",
    "a b",
    'c "d" $e',
    "f g",
    "h\n!",
    "ij",
    "",
  ]);
});

const json = [{ name: "Content-Type", value: "application/json" }];
const form = [{ name: "Content-Type", value: "application/x-www-form-urlencoded" }];

test.each([
  ["curl https://a.example", { method: "GET", url: "https://a.example", headers: [], body: "" }],
  ["curl a.example/x", { method: "GET", url: "http://a.example/x", headers: [], body: "" }],
  ["curl -sS -X put --url https://a.example", { method: "PUT", url: "https://a.example", headers: [], body: "" }],
  ["curl -XDELETE https://a.example", { method: "DELETE", url: "https://a.example", headers: [], body: "" }],
  [
    `curl https://a.example -H 'Content-Type: application/json' --data-raw '{"a":1}'`,
    { method: "POST", url: "https://a.example", headers: json, body: '{"a":1}' },
  ],
  ["curl -d a=1 -d b=2 https://a.example", { method: "POST", url: "https://a.example", headers: form, body: "a=1&b=2" }],
  [
    "curl -G -d a=1 --data-urlencode 'b=x y' https://a.example?c",
    { method: "GET", url: "https://a.example?c&a=1&b=x%20y", headers: [], body: "" },
  ],
  [
    "curl --json '{}' https://a.example",
    { method: "POST", url: "https://a.example", headers: [...json, { name: "Accept", value: "application/json" }], body: "{}" },
  ],
  [
    "curl -u ada:grün https://a.example -m 2.5 -k",
    {
      method: "GET",
      url: "https://a.example",
      headers: [{ name: "Authorization", value: "Basic YWRhOmdyw7xu" }],
      body: "",
      timeout: 3,
      tls_verify: false,
    },
  ],
  [
    "curl https://a.example -b 'a=1' -A agent --compressed",
    {
      method: "GET",
      url: "https://a.example",
      headers: [
        { name: "Cookie", value: "a=1" },
        { name: "User-Agent", value: "agent" },
      ],
      body: "",
    },
  ],
])("%s", (command, want) => {
  expect(call(command)).toEqual(want);
});

test.each([
  ["wget https://a.example", "must begin with curl"],
  ["", "must begin with curl"],
  ["curl -s", "has no URL"],
  ["curl https://a.example https://b.example", "several URLs"],
  ["curl https://a.example | jq .", "without |"],
  ["curl 'https://a.example", "has no end"],
  ["curl -d @file https://a.example", "in a file"],
  ["curl -u ada https://a.example", "no password"],
  ["curl --proxy p https://a.example", "--proxy is not known"],
  ["curl https://a.example -H", "-H has no value"],
  ["curl -I https://a.example", "cannot send HEAD"],
])("%s is refused", (command, why) => {
  expect(readCurl(command)).toEqual({ problem: expect.stringContaining(why) });
});

test("what a job does not do is said", () => {
  const read = readCurl("curl -L https://a.example -H 'Host: b.example'");
  expect(read).toMatchObject({
    notes: ["Redirects are not followed: use the target address.", "The header Host is left out: a run sets it itself."],
  });
});
