import { expect, test, vi } from "vitest";
import { type Page, recover } from "./reload";

const startPage = (entry: string) => `<head><script type="module" crossorigin src="${entry}"></script></head>`;

function page(start: () => Promise<string>, marks = new Map<string, string>()) {
  const reload = vi.fn();
  const storage = {
    getItem: (name: string) => marks.get(name) ?? null,
    setItem: (name: string, value: string) => void marks.set(name, value),
  };
  const made: Page = { entry: "/assets/index-old.js", start, marks: storage, reload };
  return { made, reload, marks };
}

test("a page whose server was upgraded is loaded again, once", async () => {
  const { made, reload, marks } = page(async () => startPage("/assets/index-new.js"));
  void recover(made);
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce());

  const again = page(async () => startPage("/assets/index-new.js"), marks);
  expect((await recover(again.made)).code).toBe("part_missing");
  expect(again.reload).not.toHaveBeenCalled();

  const later = page(async () => startPage("/assets/index-newer.js"), marks);
  void recover(later.made);
  await vi.waitFor(() => expect(later.reload).toHaveBeenCalledOnce());
});

test("a page is not loaded again while the server is away, or has the same version", async () => {
  const away = page(() => Promise.reject(new Error("no connection")));
  expect((await recover(away.made)).code).toBe("offline");
  const same = page(async () => startPage("/assets/index-old.js"));
  expect((await recover(same.made)).code).toBe("part_missing");
  for (const { reload } of [away, same]) expect(reload).not.toHaveBeenCalled();
});
