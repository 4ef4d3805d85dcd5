// WebP files from Chromium: single pictures, and animations, which join several pictures in one file.

/** take returns a picture of what a page shows, as WebP, which is a third of PNG's size. */
export async function take(page, quality = 88) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
  await session.detach();
  return Buffer.from(data, "base64");
}

/** animate joins pictures of one size. Each frame has its picture and how many milliseconds it is shown. */
export function animate(frames, { width, height, plays }) {
  const header = chunk("VP8X", Buffer.concat([uint(0x02, 4), uint(width - 1, 3), uint(height - 1, 3)]));
  const animation = chunk("ANIM", Buffer.concat([uint(0xffffffff, 4), uint(plays, 2)]));
  const pictures = frames.map(({ picture, milliseconds }) => {
    const place = [uint(0, 3), uint(0, 3), uint(width - 1, 3), uint(height - 1, 3), uint(milliseconds, 3), uint(0x02, 1)];
    return chunk("ANMF", Buffer.concat([...place, bitmapOf(picture)]));
  });
  const body = Buffer.concat([Buffer.from("WEBP"), header, animation, ...pictures]);
  return Buffer.concat([Buffer.from("RIFF"), uint(body.length, 4), body]);
}

/** bitmapOf returns the chunk of a WebP file that has its pixels. */
function bitmapOf(file) {
  for (let at = 12; at < file.length; ) {
    const next = at + 8 + even(file.readUInt32LE(at + 4));
    if (["VP8 ", "VP8L"].includes(file.toString("latin1", at, at + 4))) return file.subarray(at, next);
    at = next;
  }
  throw new Error("a picture without pixels");
}

function chunk(name, content) {
  return Buffer.concat([Buffer.from(name), uint(content.length, 4), content, Buffer.alloc(even(content.length) - content.length)]);
}

function even(length) {
  return length + (length % 2);
}

function uint(value, bytes) {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
