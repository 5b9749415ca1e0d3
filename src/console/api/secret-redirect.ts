import { invalid } from './check.js';

type Json = Readonly<Record<string, unknown>>;

interface SlotChange {
  readonly before: Json;
  readonly after: Json;
  readonly patch: Json;
  /** The entry before the change, secrets redacted. */
  readonly shown: Json;
}

/**
 * Refuses, with `invalid_request`, a change that would send stored secrets to a new destination. A stolen
 * session must not redirect them to its own server.
 */
export function refuseDiversion(change: SlotChange): void {
  const moved = Object.entries(destinations).filter(([, of]) => isMoved(of(change.before), of(change.after)));
  if (moved.length === 0) return;
  const kept = (['account', 'headers'] as const).flatMap((part) => {
    const names = keptSecrets(change, part);
    return names.length === 0 ? [] : [`send \`${part}\` again with its ${names.join(', ')}`];
  });
  if (kept.length === 0) return;
  const cure = `to change where the stored secrets go, ${kept.join(', and ')}`;
  throw invalid(moved.map(([field]) => `${field}: ${cure}`));
}

/** Fields of a slot that decide where its secrets are sent. */
const destinations: Readonly<Record<string, (entry: Json) => unknown>> = {
  upstream: ({ upstream }) => upstream,
  baseUrl: ({ baseUrl }) => baseUrl,
  proxy: ({ proxy }) => proxy,
  'account.tokenUrl': (entry) => partOf(entry, 'account')['tokenUrl'],
  'headers.host': (entry) =>
    Object.entries(partOf(entry, 'headers')).find(([name]) => name.toLowerCase() === 'host')?.[1],
};

/** True for a new or changed destination; a removed proxy or token URL sends secrets to nobody new. */
function isMoved(before: unknown, after: unknown): boolean {
  return after !== undefined && after !== before;
}

/** Names of the secrets that stay the same without being in the patch. */
function keptSecrets({ before, after, patch, shown }: SlotChange, part: string): readonly string[] {
  const [was, is] = [partOf(before, part), partOf(after, part)];
  const [sent, blanked] = [partOf(patch, part), partOf(shown, part)];
  return Object.keys(was).filter((name) => {
    const isSecret = was[name] !== blanked[name] && !Object.hasOwn(destinations, `${part}.${name}`);
    return isSecret && is[name] === was[name] && sent[name] !== was[name];
  });
}

function partOf(entry: Json, part: string): Json {
  return Object(entry[part]) as Json; // any object has properties, perhaps none
}
