import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { visible, visibleProps } from "./visible";

const hostile = "Eve\u001b]52;c;AA==\u0007 \u202egnp.exe\u2066";
const shown = "Eve␛]52;c;AA==␇ <U+202E>gnp.exe<U+2066>";

test.each([
  ["Ada Ünï 👩\u200d🚒 א\u200fb", "Ada Ünï 👩\u200d🚒 א\u200fb"],
  ["two\n\tlines\r\n", "two\n\tlines\r\n"],
  [hostile, shown],
  ["\u0000\u007f\u009b\u2028", "␀␡<U+009B><U+2028>"],
  ["\u202a\u202b\u202c\u202d\u202e", "<U+202A><U+202B><U+202C><U+202D><U+202E>"],
])("%j is shown as %j", (text, want) => {
  expect(visible(text)).toBe(want);
});

test("text without such characters is unchanged", () => {
  const props = { children: ["a", 1, null, ["b"]], title: "t", value: "\u202e" };
  expect(visibleProps(props)).toBe(props);
});

const Card = ({ title, children }: { title: string; children: ReactNode }) => (
  <section title={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

// escaped is a text as markup has it.
const escaped = (text: string) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");

test("every screen shows symbols: the compiler calls the functions of this folder", () => {
  const markup = renderToStaticMarkup(
    <Card title={hostile}>
      by {hostile}, {[hostile].map((name) => name)}
      <img alt={hostile} src="x" />
      <input aria-label={hostile} defaultValue="kept" />
    </Card>,
  );
  expect(visible(markup)).toBe(markup);
  expect(markup.split(escaped(shown)).length - 1).toBe(6);
});

test("choices have visible labels and keep their values", () => {
  const data = ["\u202ea", { value: hostile, label: hostile }, null];
  expect(visibleProps({ data })).toEqual({ data: ["\u202ea", { value: hostile, label: shown }, null] });
});

test("the value of a control is not changed", () => {
  expect(renderToStaticMarkup(<input defaultValue={hostile} />)).toContain(hostile);
});
