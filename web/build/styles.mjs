// Mantine's styles without those of components that the console does not use.

/** usedClasses returns the classes of Mantine that scripts name; they are hashes. */
export const usedClasses = (scripts) => new Set(scripts.flatMap((code) => code.match(/\bm_[0-9a-f]{6,8}\b/g) ?? []));

// lighten drops the selectors that name a class which is not used. It knows as much CSS as Mantine uses,
// without comments: rules, and rules inside at-rules.
export function lighten(css, used) {
  let lean = "";
  for (let at = 0; at < css.length; ) {
    const open = css.indexOf("{", at);
    if (open < 0) return lean + css.slice(at);
    const end = closing(css, open);
    const selector = css.slice(at, open);
    const block = css.slice(open + 1, end);
    if (/^\s*@(media|supports|layer|container)/.test(selector)) {
      const inner = lighten(block, used);
      if (inner.trim() !== "") lean += `${selector}{${inner}}`;
    } else if (selector.trimStart().startsWith("@")) lean += `${selector}{${block}}`;
    else {
      const kept = splitSelectors(selector).filter((one) => (one.match(/\bm_[0-9a-f]{6,8}\b/g) ?? []).every((name) => used.has(name)));
      if (kept.length > 0) lean += `${kept.join(",")}{${block}}`;
    }
    at = end + 1;
  }
  return lean;
}

function closing(css, open) {
  for (let at = open, depth = 0; at < css.length; at++) {
    if (css[at] === "{") depth++;
    if (css[at] === "}" && --depth === 0) return at;
  }
  return css.length;
}

function splitSelectors(text) {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if ("([".includes(character)) depth++;
    if (")]".includes(character)) depth--;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
