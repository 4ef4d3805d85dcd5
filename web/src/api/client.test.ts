import { expect, test } from "vitest";
import { ApiError } from "./client";

test("a sentence beside a member does not repeat its name", () => {
  const pointer = "/data/attributes/configuration/url";
  const problem = { status: "400", title: "Invalid", detail: "configuration/url must be an absolute URL.", source: { pointer } };
  const failure = new ApiError(400, "validation_error", problem.detail, "", [problem] as never);
  expect(failure.at(pointer)).toBe("must be an absolute URL.");
  expect(failure.at("/data/attributes/name")).toBeUndefined();
});
