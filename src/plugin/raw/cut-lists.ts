/** Top-level list of objects in a JSON body, with the byte range of its text. */
export interface ListSpan {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Lists that are often larger than all other fields together. */
const names = ['system', 'tools'] as const;

/**
 * Finds these lists in a part of a body, in the order of their text. Their ends are guessed by the fields that follow:
 * callers that parse them apart must verify them.
 */
export function cutLists(bytes: Buffer, from: number, to: number): readonly ListSpan[] {
  const part = bytes.subarray(from, to); // a search of all bytes would cost more than what it saves
  const spans = names.flatMap((name) => listIn(part, name) ?? []);
  return spans
    .map(({ name, start, end }) => ({ name, start: from + start, end: from + end }))
    .toSorted((one, other) => one.start - other.start);
}

function listIn(part: Buffer, name: string): ListSpan | undefined {
  const key = part.indexOf(`"${name}"`);
  if (key === -1) return undefined;
  const after = key + name.length + 2;
  const [before, list] = opening.exec(part.toString('latin1', after, after + maxGap)) ?? [];
  if (before === undefined || list === undefined) return undefined;
  const start = after + before.length - list.length;
  const end = listEnd(part, start);
  return end === undefined ? undefined : { name, start, end };
}

function listEnd(part: Buffer, start: number): number | undefined {
  let at = start;
  for (let tries = 0; tries < maxTries; tries += 1) {
    at = part.indexOf('}]', at);
    if (at === -1) return undefined;
    at += '}]'.length;
    if (following.test(part.toString('latin1', at, at + maxGap))) return at;
  }
  return undefined;
}

const opening = /^\s*:\s*(\[\s*\{)/;

/** The end of the body, or a field that no tool, schema or content block has after a list. */
const following =
  /^\s*(?:,\s*"(?:messages|system|tools|model|max_tokens|metadata|stream|thinking|tool_choice|temperature)"\s*:|\}\s*$)/;

/** Max bytes in which the start of the following field is searched. */
const maxGap = 64;

/** Max candidate ends: a body may have any number of lists. */
const maxTries = 1000;
