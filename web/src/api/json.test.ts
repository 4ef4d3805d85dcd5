import { expect, test } from "vitest";
import { Exact, isExact, numberOf, parse, stringify } from "./json";

const documents = [
  '{"id":9007199254740993}',
  '{"a":[-9007199254740993,1.00000000000000000001,1e400],"b":"9007199254740993"}',
  '{"text":"a \\"9007199254740993\\" and [9007199254740993","n":12345678901234567890}',
  "9007199254740993",
  '{"a":1,"b":[true,null,"x"]}',
];

test.each(documents)("a document is written as it was read: %s", (text) => {
  expect(stringify(parse(text))).toBe(text);
});

test("a browser that can write raw JSON needs no replacement", () => {
  if (!("rawJSON" in JSON)) return;
  expect(JSON.stringify(parse('{"id":9007199254740993}'))).toBe('{"id":9007199254740993}');
});

test("numbers that JavaScript keeps stay numbers", () => {
  expect(parse("[0.1, 1e5, -0, 1500, 9007199254740991, 1.50, 100000000000000000000000]")).toEqual([
    0.1,
    1e5,
    -0,
    1500,
    2 ** 53 - 1,
    1.5,
    1e23,
  ]);
  expect(parse("9007199254740993")).toEqual(new Exact("9007199254740993"));
  expect(String(parse("9007199254740993"))).toBe("9007199254740993");
});

test.each([
  ["0.1", true],
  ["1.50", true],
  ["1e-7", true],
  ["9007199254740992", true],
  ["9007199254740993", false],
  ["0.10000000000000000001", false],
  ["1e400", false],
])("JavaScript keeps %s: %s", (text, kept) => {
  expect(isExact(text)).toBe(kept);
});

test("a text that is no JSON has the message of the browser", () => {
  expect(() => parse('{"id": 9007199254740993')).toThrow(SyntaxError);
});

test.each([
  ["1500", 1500],
  [".5", 0.5],
  ["0x10", undefined],
  ["007", undefined],
  ["9007199254740993", new Exact("9007199254740993")],
  ["+9007199254740993", undefined],
])("the number of a text: %s", (text, number) => {
  expect(numberOf(text)).toEqual(number);
});
