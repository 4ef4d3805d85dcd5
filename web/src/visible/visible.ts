/*
 * Names come from other people. A bidirectional override in a name changes the order of the text around it, and control
 * characters are invisible. The server refuses such names (internal/naming has the same rule); this file shows symbols in
 * names that are stored already.
 */

// Control characters except tabs and line breaks, line separators, and bidirectional embeddings, overrides and isolates.
const hidden = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const layout = "\t\n\r";

/** symbol returns the symbol for a character: the picture of a control character, or its number. */
function symbol(character: string): string {
  const code = character.charCodeAt(0);
  if (layout.includes(character)) return character;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** visible returns a text with a symbol for every character that hides or reorders text: ␛ for an escape, <U+202E> for an override. */
export const visible = (text: string): string => text.replace(hidden, symbol);

/** visibleNode returns the content of an element with visible texts. Nested elements have passed here already. */
function visibleNode(node: unknown): unknown {
  if (typeof node === "string") return visible(node);
  if (!Array.isArray(node)) return node;
  const shown = node.map(visibleNode);
  return shown.every((each, index) => each === node[index]) ? node : shown;
}

/** visibleChoices returns the choices of a control with visible labels; their values stay unchanged. */
function visibleChoices(data: unknown): unknown {
  if (!Array.isArray(data)) return data;
  const shown = data.map((choice) => {
    const label = visibleNode(choice?.label);
    return label === choice?.label ? choice : { ...choice, label };
  });
  return shown.every((each, index) => each === data[index]) ? data : shown;
}

/** texts are the properties that elements and components show as text. The value of a control is never changed. */
const texts = ["children", "title", "subtitle", "label", "description", "placeholder", "error", "alt", "aria-label"];

/** visibleProps returns the properties of an element with visible texts, or the same object if nothing changes. */
export function visibleProps<T>(props: T): T {
  let shown = props as Record<string, unknown>;
  for (const name of texts) {
    const node = visibleNode(shown[name]);
    if (node !== shown[name]) shown = { ...shown, [name]: node };
  }
  const data = visibleChoices(shown.data);
  if (data !== shown.data) shown = { ...shown, data };
  return shown as T;
}
