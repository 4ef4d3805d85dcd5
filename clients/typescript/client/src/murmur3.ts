const encoder = new TextEncoder();

/** Most keys are shorter; their bytes need no new memory. */
const short = new Uint8Array(128);

/** Writes a text of ASCII and returns its bytes; undefined for another text. */
function ascii(text: string): Uint8Array | undefined {
  if (text.length > short.length) {
    return undefined;
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) {
      return undefined;
    }
    short[i] = unit;
  }
  return short;
}

/** MurmurHash3's 32-bit variant for x86 with seed 0, the hash that flagd's clients agree on, of a text in UTF-8. */
export function murmur3(text: string): number {
  const plain = ascii(text);
  const bytes = plain ?? encoder.encode(text);
  const size = plain ? text.length : bytes.length;
  const whole = size & ~3;
  let h = 0;
  for (let i = 0; i < whole; i += 4) {
    const k = at(bytes, i) | (at(bytes, i + 1) << 8) | (at(bytes, i + 2) << 16) | (at(bytes, i + 3) << 24);
    h ^= mix(k);
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = size - 1; i >= whole; i--) {
    tail = (tail << 8) | at(bytes, i);
  }
  h ^= mix(tail) ^ size;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function at(bytes: Uint8Array, i: number): number {
  return bytes[i] as number;
}

function mix(k: number): number {
  const first = Math.imul(k, 0xcc9e2d51);
  return Math.imul((first << 15) | (first >>> 17), 0x1b873593);
}
