import { expect, test } from "vitest";
import { clientOf, device } from "./device";

test("programs have their common names", () => {
  expect(device("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36")).toBe(
    "Chrome on Linux",
  );
  expect(device("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Gecko/20100101 Firefox/120.0")).toBe("Firefox on macOS");
  expect(device("signalbox-cli/0.1.0 (build-7) signalbox-go")).toBe("Command line on build-7");
  expect(device("signalbox-cli/0.1.0 signalbox-go")).toBe("Command line");
  expect(device("curl/8.5.0")).toBe("curl/8.5.0");
  expect(device("")).toBe("an unknown program");
});

test("a client is a library and its version", () => {
  expect(clientOf("signalbox-go/1.4.0 (linux; amd64)")).toEqual({ name: "signalbox-go", version: "1.4.0" });
  expect(clientOf("Python/3.12 websockets/13.0")).toEqual({ name: "Python", version: "3.12" });
  expect(clientOf("")).toEqual({ name: "unknown", version: "" });
  expect(clientOf("Mozilla/5.0 (X11; Linux x86_64) Chrome/120.0 Safari/537.36")).toEqual({ name: "Chrome on Linux", version: "" });
});
