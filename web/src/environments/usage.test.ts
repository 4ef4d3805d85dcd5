import { expect, test } from "vitest";
import { inWords, stored } from "./usage";

const none = { flag_rules: 0, flag_env_defaults: 0, config_overrides: 0, logger_overrides: 0 };

test("stored values are listed with numbers", () => {
  expect(inWords(none)).toBe("nothing");
  expect(inWords({ ...none, flag_rules: 1 })).toBe("1 flag rule");
  expect(inWords({ flag_rules: 3, flag_env_defaults: 1, config_overrides: 2, logger_overrides: 1 })).toBe(
    "3 flag rules, 1 flag default, 2 config values and 1 log level",
  );
  expect(stored({ flag_rules: 3, flag_env_defaults: 1, config_overrides: 2, logger_overrides: 1 })).toBe(7);
});
