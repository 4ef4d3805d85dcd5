/**
 * Keys gives every action an idempotency key. An action whose answer did not arrive keeps its key, so that the server
 * recognizes the action when it is sent again.
 */
export class Keys {
  private readonly unsettled = new Map<string, string>();

  /** of returns the key of an action, which its address and body identify. */
  of(action: string): string {
    const key = this.unsettled.get(action) ?? newKey();
    this.unsettled.set(action, key);
    return key;
  }

  /** settle forgets the key of an action that was answered: the next one is a new action. */
  settle(action: string): void {
    this.unsettled.delete(action);
  }
}

// newKey works without a secure context, which crypto.randomUUID requires.
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
