/** One line without control characters and bidi marks, which a terminal obeys: `\u{202e}` in their place. */
export function printable(text: string): string {
  const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
  return text.replaceAll(unsafe, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}
