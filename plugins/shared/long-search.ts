import type { Match, Pattern } from './named-patterns.js';
import type { SearchTurn } from './search-time.js';

/**
 * First match at or after `from`, with turns of the event loop between the pieces of a long text, whose overlap limits
 * the length of a match across them. Throws `invalid_request` if the time of the request is over.
 */
export async function findMatch(
  pattern: Pattern,
  text: string,
  from: number,
  turn: SearchTurn,
): Promise<Match | undefined> {
  let start = from;
  let length = pieceLength;
  for (;;) {
    if (turn.isOver) await turn.next();
    turn.check(pattern.name);
    const end = Math.min(start + length, text.length);
    const match = findWithin(pattern, text, { start, end }, turn);
    if (end === text.length || (match && match.end < end)) return match;
    // The piece may have cut the match: it is searched for in a longer one from its start.
    length = match ? 2 * length : pieceLength;
    start = match ? match.start : end - overlap;
  }
}

interface Piece {
  readonly start: number;
  readonly end: number;
}

function findWithin(
  pattern: Pattern,
  text: string,
  { start, end }: Piece,
  turn: SearchTurn,
): Match | undefined {
  const base = Math.max(0, start - contextLength);
  const piece = base === 0 && end === text.length ? text : text.slice(base, end);
  const match = pattern.find(piece, start - base, turn);
  return match && { name: match.name, start: base + match.start, end: base + match.end };
}

/** Characters that take a search about 10 ms. */
const pieceLength = 16_384;
const overlap = 4096;
/** Characters kept before a piece, for word boundaries. */
const contextLength = 8;
