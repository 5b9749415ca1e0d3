/** Text, or its UTF-8. */
export type SsePiece = string | Uint8Array;
