/** Piece of an event stream: text, or its UTF-8 bytes. */
export type SsePiece = string | Uint8Array;
