/** Shown is a question with a key of its own, so that nothing typed into one dialog is left in the next. */
interface Shown<Q> {
  key: number;
  question: Q;
}

/** Questions shows one question at a time. The others wait, so that each gets an answer of its own. */
export class Questions<Q> {
  private waiting: Shown<Q>[] = [];
  private count = 0;
  private readonly listeners = new Set<() => void>();

  /** ask adds a question, which is made with the function that answers it, and returns the answer. */
  ask<A>(make: (answer: (given: A) => void) => Q): Promise<A> {
    const key = ++this.count;
    return new Promise((resolve) => {
      const question = make((given) => {
        this.set(this.waiting.filter((other) => other.key !== key));
        resolve(given);
      });
      this.set([...this.waiting, { key, question }]);
    });
  }

  /** snapshot returns the question to show. */
  snapshot = (): Shown<Q> | undefined => this.waiting[0];

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private set(waiting: Shown<Q>[]): void {
    this.waiting = waiting;
    for (const listener of this.listeners) listener();
  }
}
