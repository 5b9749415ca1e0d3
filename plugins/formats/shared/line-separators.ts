/** JSON in UTF-8 whose U+2028 and U+2029 are escaped: some readers of event streams take them for line ends. */
export function withoutSeparators(json: Buffer): Buffer {
  if (!json.includes(firstByte)) return json;
  if (!json.includes(lineSeparator) && !json.includes(paragraphSeparator)) return json;
  const text = json.toString('latin1');
  const escaped = text
    .replaceAll('\u00e2\u0080\u00a8', '\\u2028')
    .replaceAll('\u00e2\u0080\u00a9', '\\u2029');
  return Buffer.from(escaped, 'latin1');
}

const firstByte = 0xe2; // that of both, sought by memchr
const lineSeparator = Buffer.from('\u2028');
const paragraphSeparator = Buffer.from('\u2029');
