import { invalid } from './check.js';

type Json = Readonly<Record<string, unknown>>;

interface SlotChange {
  readonly before: Json;
  readonly after: Json;
  readonly patch: Json;
  /** As it was before, secrets blanked. */
  readonly shown: Json;
}

/**
 * Throws `invalid_request` where a change would send secrets that only the store knows to another place than before: who
 * has come by a session must not have them sent to himself.
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

/** What of a slot says where its secrets go. */
const destinations: Readonly<Record<string, (entry: Json) => unknown>> = {
  upstream: ({ upstream }) => upstream,
  baseUrl: ({ baseUrl }) => baseUrl,
  proxy: ({ proxy }) => proxy,
  'account.tokenUrl': (entry) => partOf(entry, 'account')['tokenUrl'],
  'headers.host': (entry) =>
    Object.entries(partOf(entry, 'headers')).find(([name]) => name.toLowerCase() === 'host')?.[1],
};

/** What is taken away leads nowhere else: without a proxy, or a token URL, there is one place less that learns of it. */
function isMoved(before: unknown, after: unknown): boolean {
  return after !== undefined && after !== before;
}

/** The names of the secrets that stay what they were although the patch does not have them. */
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
