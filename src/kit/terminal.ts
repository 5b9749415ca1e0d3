import { styleText } from 'node:util';

/** Paints a text for a terminal, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

export function painter(isColoured: boolean): Paint {
  return isColoured ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}

/** One line without control characters and bidi marks, which affect a terminal: `\u{202e}` in their place. */
export function printable(text: string): string {
  const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
  return text.replaceAll(unsafe, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}
