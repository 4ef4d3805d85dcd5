type Color = [light: string, dark: string];

/** tones are the colors of outcomes. */
export const tones: Record<"good" | "bad" | "quiet" | "line", Color> = {
  good: ["#57a773", "#3f8a58"],
  bad: ["#c23b30", "#ef7b72"],
  quiet: ["#b3b9c0", "#59616a"],
  line: ["#2f6f6a", "#90c5bf"],
};

// Six hues that stay apart for people who confuse red and green, in both themes.
const hues: Color[] = [
  ["#2f6f6a", "#6fb4ad"],
  ["#d08a2e", "#e0b35c"],
  ["#5a6fc0", "#93a5ea"],
  ["#b0578d", "#dc8fbd"],
  ["#6b8e3d", "#a5c66f"],
  ["#7d848c", "#8f979f"],
];

/** hueOf returns the color of the value at a place; true and false always have the same ones. */
export function hueOf(name: string, place: number): Color {
  if (name === "true") return hues[0] as Color;
  if (name === "false") return tones.quiet;
  return hues[place % hues.length] as Color;
}
