import { expect, test } from "vitest";
import { ApiError } from "../api/client";
import { problemsAt } from "./problems";

test("a refusal is placed inside of the value that it is about", () => {
  const problem = (pointer: string, detail: string) => ({ status: "400", title: "Invalid", detail, source: { pointer } });
  const failure = new ApiError(400, "validation_error", "", "", [
    problem("/data/attributes/environments/production/database/port", "must be an integer"),
    problem("/data/attributes/name", "is too long"),
  ] as never);
  expect(problemsAt(failure, "/data/attributes/environments/production/database")).toEqual([
    { message: "must be an integer", pointer: "/port" },
    { message: "is too long", pointer: undefined },
  ]);
  expect(problemsAt(undefined, "")).toEqual([]);
});
