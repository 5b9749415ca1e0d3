import { styleText } from 'node:util';

/** Paints a text for a terminal, or leaves it. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

export function painter(isColoured: boolean): Paint {
  return isColoured ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}
