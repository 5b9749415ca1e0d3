declare const isBytes: unique symbol;

/**
 * Binary string: UTF-8 with one character for each byte, so that text that only passes through is cut, joined
 * and sent without decoding. ASCII is the same in both.
 */
export type BinaryString = string & { readonly [isBytes]: true };

/** Encodes a text as UTF-8; half of a surrogate pair becomes U+FFFD. */
export function toBinaryString(text: string): BinaryString {
  const bytes = beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
  return bytes as BinaryString; // one byte per character
}

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function fromBinaryString(bytes: BinaryString): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}

const beyondAscii = /[\u0080-\uffff]/;
