/** A text in all its possible forms: plain, within JSON, percent-encoded, and within base64. */
export function formsOf(secret: string): readonly string[] {
  const percent = percentEncoded(secret);
  const base64 = [0, 1, 2].map((offset) => withinBase64(secret, offset));
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    percent,
    percent.replaceAll('%20', '+'),
    percent.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  return [...new Set(forms)];
}

function percentEncoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()); // half of a surrogate pair would throw
}

/** The characters of base64 that encode these bytes alone, after `offset` others. */
function withinBase64(text: string, offset: number): string {
  const bytes = Buffer.from('.'.repeat(offset) + text);
  const first = Math.ceil((offset * 8) / 6);
  return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
}
