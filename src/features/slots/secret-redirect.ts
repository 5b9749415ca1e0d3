import { invalid } from '../../operator/check.js';

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
export function guardSecretRedirect(change: SlotChange): void {
  const all = { ...destinations, ...urlsOf(change.after) };
  const moved = Object.entries(all).filter(([, of]) => isMoved(of(change.before), of(change.after)));
  if (moved.length === 0) return;
  const kept = (['account', 'with', 'headers'] as const).flatMap((part) => {
    const names = keptSecrets(change, part);
    return names.length === 0 ? [] : [`send \`${part}\` again with its ${names.join(', ')}`];
  });
  if (kept.length === 0) return;
  const cure = `to change where the stored secrets go, ${kept.join(', and ')}`;
  throw invalid(moved.map(([field]) => `${field}: ${cure}`));
}

/** Fields of a slot that determine the destination of its secrets. */
const destinations: Readonly<Record<string, (entry: Json) => unknown>> = {
  upstream: ({ upstream }) => upstream,
  baseUrl: ({ baseUrl }) => baseUrl,
  proxy: ({ proxy }) => proxy,
  'headers.host': (entry) =>
    Object.entries(partOf(entry, 'headers')).find(([name]) => name.toLowerCase() === 'host')?.[1],
};

/** Options of the account and of the upstream that are URLs. */
function urlsOf(entry: Json): typeof destinations {
  const found = (['account', 'with'] as const).flatMap((part) =>
    Object.entries(partOf(entry, part))
      .filter(([, value]) => typeof value === 'string' && /^https?:/i.test(value))
      .map(([name]) => [`${part}.${name}`, (slot: Json) => partOf(slot, part)[name]] as const),
  );
  return Object.fromEntries(found);
}

/** True for a new or changed destination; a removed proxy or token URL sends secrets to nobody new. */
function isMoved(before: unknown, after: unknown): boolean {
  return after !== undefined && after !== before;
}

/** Names of the secrets that stay the same without being in the patch. */
function keptSecrets({ before, after, patch, shown }: SlotChange, part: string): readonly string[] {
  const [was, is] = [partOf(before, part), partOf(after, part)];
  const [sent, blanked] = [partOf(patch, part), partOf(shown, part)];
  return Object.keys(was).filter((name) => {
    const isSecret =
      was[name] !== blanked[name] &&
      `${part}.${name}` !== 'headers.host' &&
      !/^https?:/i.test(String(was[name]));
    return isSecret && is[name] === was[name] && sent[name] !== was[name];
  });
}

/** Values of a part by their paths within it: `proof.key`. */
function partOf(entry: Json, part: string): Json {
  return Object.fromEntries(leavesOf(entry[part]));
}

function leavesOf(value: unknown, path = ''): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [[path, value]];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    leavesOf(inner, path === '' ? key : `${path}.${key}`),
  );
}
