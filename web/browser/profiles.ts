import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";

/** Profile is a browser profile that one test has at a time. */
export interface Profile {
  context: BrowserContext;
  /** giveBack closes the test's pages and leaves the profile to other tests. */
  giveBack: () => Promise<void>;
}

/**
 * Profiles are the browser profiles of one server. A profile is reused, because a page of a new profile compiles the whole
 * console, which took a fifth of the time of all tests. Cookies and storage of earlier tests are removed; changes of the
 * profile itself, such as its clock, are not.
 */
export class Profiles {
  private readonly idle = new Map<string, Profile[]>();
  private readonly contexts: BrowserContext[] = [];

  constructor(
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  /** take returns a profile with these options that no other test uses; a fresh one is new. */
  async take(options: BrowserContextOptions, fresh: boolean): Promise<Profile> {
    const kind = fresh ? undefined : JSON.stringify(options);
    const known = kind && this.idle.get(kind)?.pop();
    const profile = known || (await this.create(options, kind));
    await profile.context.tracing.start(); // no screenshots: one of every frame would double the time of the tests
    return profile;
  }

  async close(): Promise<void> {
    await Promise.all(this.contexts.map((context) => context.close().catch(() => {})));
  }

  private async create(options: BrowserContextOptions, kind?: string): Promise<Profile> {
    const context = await this.browser.newContext({
      baseURL: this.url,
      reducedMotion: "reduce",
      viewport: { width: 1360, height: 860 },
      ...options,
    });
    this.contexts.push(context);
    if (!kind) return { context, giveBack: () => context.close() };
    const keeper = await context.newPage(); // keeps the browser process with its compiled console
    await keeper.goto("/api/liveness");
    const cleanUp = async () => {
      await context.tracing.stop();
      await Promise.all(context.pages().map((page) => page !== keeper && page.close()));
      await keeper.evaluate(() => localStorage.clear());
      await context.clearCookies();
      this.idle.set(kind, [...(this.idle.get(kind) ?? []), profile]);
    };
    const profile: Profile = { context, giveBack: () => cleanUp().catch(() => context.close()) };
    return profile;
  }
}
