/** Token count of an image or a file of any size: the real count does not depend on the base64 either. */
const tokensOfMedia = 1200;

/** Tokens of a text: a quarter of its bytes, rounded up. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Tokens of a block or tool: those of its JSON without `cache_control`, base64 data counted as one image. */
export function tokensOf(json: string): number {
  const { media, rest } = withoutMedia(json);
  return tokensOfText(rest) + media * tokensOfMedia;
}

/** The text up to a number of bytes, never cut inside a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  let cut = Buffer.from(text).subarray(0, maxBytes).toString();
  while (cut.endsWith('\ufffd')) cut = cut.slice(0, -1);
  return cut;
}

function withoutMedia(json: string): { media: number; rest: string } {
  if (!json.includes('"base64"')) return { media: 0, rest: json };
  let media = 0;
  const rest = json.replaceAll(/"data":"[A-Za-z0-9+/=]{40,}"/g, () => {
    media += 1;
    return '';
  });
  return { media, rest };
}
