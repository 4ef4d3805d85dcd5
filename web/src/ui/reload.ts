import { ApiError } from "../api/client";

/** Page is what a recovery needs of the browser. */
export interface Page {
  /** entry is the path of the script that the page began with; its name has a hash of its content. */
  entry: string;
  /** start returns the start page as the server has it now. */
  start: () => Promise<string>;
  marks: Pick<Storage, "getItem" | "setItem">;
  reload: () => void;
}

const mark = "signalbox.reloaded";
const missing = "A part of the console could not be loaded. Try again, or reload the page.";

/**
 * recover explains why a part of the console did not load. If the server was upgraded since the page was opened, the old
 * parts are gone: the page is loaded again, once for each new version, and recover never returns.
 */
export async function recover(page: Page = browserPage()): Promise<ApiError> {
  let start: string;
  try {
    start = await page.start();
  } catch {
    return new ApiError(0, "offline", "This part of the console is loaded when the server can be reached again.", "");
  }
  const entry = /<script type="module"[^>]* src="([^"]+)"/.exec(start)?.[1];
  if (entry === undefined || entry === page.entry || page.marks.getItem(mark) === entry)
    return new ApiError(0, "part_missing", missing, "");
  page.marks.setItem(mark, entry);
  page.reload();
  return new Promise(() => {});
}

function browserPage(): Page {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  return {
    entry: script ? new URL(script.src).pathname : "",
    start: async () => {
      const response = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(10_000) });
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      return response.text();
    },
    marks: sessionStorage,
    reload: () => window.location.reload(),
  };
}
