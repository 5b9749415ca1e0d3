import { didYouMean, durationMs, isHeaderValue, isRequestHeader } from '../plugin/index.js';
import type { Checked } from './checked.js';
import type { AccountConfig, SlotConfig } from './config.js';
import type { Fault, Path, Source } from './document.js';
import type { RawSlot } from './schema.js';

/** Converts a checked slot; `raw` has passed its schema and `slotFaults`. */
export function toSlot(raw: RawSlot, index: number, source: Source): SlotConfig {
  const { baseUrl, proxy } = raw;
  return {
    id: raw.id,
    upstream: raw.upstream,
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, '') }),
    account: toAccount(raw.account),
    models: [raw.models].flat(),
    maxConcurrent: raw.maxConcurrent,
    weight: raw.weight,
    ...(proxy !== undefined && { proxy }),
    headers: Object.fromEntries(
      Object.entries(raw.headers).map(([name, text]) => [name.toLowerCase(), text.trim()]),
    ),
    connectTimeoutMs: durationMs(raw.connectTimeout),
    path: `slots[${index}]`,
    at: source.positionOf(['slots', index]),
  };
}

/** Converts an account. Trims secrets: files and pasted text often end in a line feed. */
function toAccount(raw: RawSlot['account']): AccountConfig {
  if (raw?.kind === 'api-key') return { ...raw, key: raw.key.trim() };
  if (raw?.kind !== 'oauth') return raw ?? { kind: 'none' };
  const { expiresAt, clientSecret, ...account } = raw;
  const expiresAtMs = expiresAt === undefined ? undefined : timeMs(expiresAt);
  return {
    ...account,
    accessToken: account.accessToken.trim(),
    refreshToken: account.refreshToken.trim(),
    clientId: account.clientId.trim(),
    ...(clientSecret !== undefined && { clientSecret: clientSecret.trim() }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

/** Rules for one slot that a schema cannot express, checked on its sound fields. */
export function slotFaults(slot: RawSlot, index: number, isSound: Checked['isSound']): readonly Fault[] {
  return rules
    .filter(({ of }) => of.every((field) => isSound(['slots', index, field])))
    .flatMap(({ faults }) => faults(slot))
    .map(({ path, message }) => ({ path: ['slots', index, ...path], message }));
}

/**
 * Faults for credentials such as `$NAME` in the config as `written`: a variable was meant, and the braces are
 * missing.
 */
export function variableFaults(written: unknown): readonly Fault[] {
  const { slots } = Object(written) as { slots?: unknown }; // any object has properties, perhaps undefined
  return [slots].flat().flatMap((slot: unknown, index) => {
    const { account } = Object(slot) as { account?: unknown }; // as above
    return Object.entries(Object(account) as object)
      .filter(([, text]: [string, unknown]) => typeof text === 'string' && /^\$[A-Za-z_]\w*$/.test(text))
      .map(([key, text]: [string, string]) => ({
        path: ['slots', index, 'account', key],
        message: `looks like a variable; write \${${text.slice(1)}}`,
      }));
  });
}

/** Faults for ids used twice: logs, bindings and `/admin/slots` could not tell the slots apart. */
export function duplicateSlots(ids: readonly unknown[], source: Source): readonly Fault[] {
  return ids.flatMap((id, index) => {
    const first = ids.indexOf(id);
    if (first === index || typeof id !== 'string') return [];
    const { line } = source.positionOf(['slots', first, 'id']);
    const message = `"${id}" is the id of slots[${first}] at line ${line} already; give each slot its own`;
    return [{ path: ['slots', index, 'id'], message }];
  });
}

/** Names of the upstream adapters. */
const adapters: readonly string[] = ['messages', 'simulator'];

interface Rule {
  /** The fields that the rule reads; it is skipped unless all are sound. */
  readonly of: readonly (keyof RawSlot)[];
  readonly faults: (slot: RawSlot) => readonly Fault[];
}

const rules: readonly Rule[] = [
  { of: ['id'], faults: idFaults },
  { of: ['upstream'], faults: upstreamFaults },
  {
    of: ['upstream', 'baseUrl'],
    faults: ({ upstream, baseUrl }) =>
      upstream === 'messages' && baseUrl === undefined
        ? [{ path: ['baseUrl'], message: 'is required: where the upstream is, `https://upstream.example`' }]
        : [],
  },
  {
    of: ['upstream', 'account'],
    faults: ({ upstream, account }) =>
      upstream === 'messages' && account === undefined ? [{ path: ['account'], message: noAccount }] : [],
  },
  { of: ['baseUrl'], faults: ({ baseUrl }) => (baseUrl === undefined ? [] : baseUrlFaults(baseUrl)) },
  { of: ['proxy'], faults: ({ proxy }) => (proxy === undefined ? [] : proxyFaults(proxy)) },
  { of: ['account'], faults: accountFaults },
  { of: ['headers'], faults: headerFaults },
];

const noAccount =
  'is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` where none is asked for';

function idFaults({ id }: RawSlot): readonly Fault[] {
  const message = 'must be plain letters, digits and signs: answers name it in a header';
  return /^[\x21-\x7e]+$/.test(id) ? [] : [{ path: ['id'], message }];
}

function upstreamFaults({ upstream }: RawSlot): readonly Fault[] {
  if (adapters.includes(upstream)) return [];
  const meant = didYouMean(upstream, adapters);
  const cure = meant ? `did you mean "${meant}"?` : `there are ${adapters.join(' and ')}`;
  return [{ path: ['upstream'], message: `"${upstream}" is not an adapter; ${cure}` }];
}

/** Rules for `baseUrl`; a path that every call adds is the most common mistake. */
function baseUrlFaults(baseUrl: string): readonly Fault[] {
  const path = ['baseUrl'];
  const added = /\/v1(\/messages)?(?=\/*$)/.exec(baseUrl)?.[0];
  return [
    ...urlFaults(path, baseUrl),
    ...(added ? [{ path, message: `ends in ${added}, which every call adds; leave it out` }] : []),
  ];
}

function accountFaults({ account }: RawSlot): readonly Fault[] {
  if (account?.kind === 'api-key') return secretFaults(['account', 'key'], account.key);
  if (account?.kind !== 'oauth') return [];
  const { expiresAt, tokenUrl } = account;
  const isTime = expiresAt === undefined || timeMs(expiresAt) !== undefined;
  const message = `must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not ${JSON.stringify(expiresAt)}`;
  return [
    ...secretFaults(['account', 'accessToken'], account.accessToken),
    ...urlFaults(['account', 'tokenUrl'], tokenUrl),
    ...(isTime ? [] : [{ path: ['account', 'expiresAt'], message }]),
  ];
}

/**
 * Rules for a secret that is sent in a header; surrounding white space is trimmed. Messages do not repeat the
 * secret.
 */
function secretFaults(path: Path, text: string): readonly Fault[] {
  const secret = text.trim();
  if (secret === '') return [{ path, message: 'must not be blank' }];
  if (isHeaderValue(secret)) return [];
  return [{ path, message: 'has a line end or another character within it that no HTTP header can hold' }];
}

function headerFaults({ headers }: RawSlot): readonly Fault[] {
  const message =
    'is not a header that can be added: a name of letters, digits and dashes, none that is about the connection, and a text of one line';
  return Object.entries(headers)
    .filter(([name, text]) => !isRequestHeader(name, text.trim()))
    .map(([name]) => ({ path: ['headers', name], message }));
}

/** Rules for a URL; messages do not repeat it, because it may hold a password. */
function urlFaults(path: Path, text: string): readonly Fault[] {
  const protocol = URL.canParse(text) ? new URL(text).protocol : 'none';
  return ['http:', 'https:'].includes(protocol)
    ? []
    : [{ path, message: 'must be a URL that begins with http:// or https://' }];
}

/**
 * Rules for a proxy URL; its user and password must be decodable, because they are decoded before they are
 * sent.
 */
function proxyFaults(proxy: string): readonly Fault[] {
  const path = ['proxy'];
  const faults = urlFaults(path, proxy);
  if (faults.length > 0 || isDecodable(new URL(proxy))) return faults;
  return [
    { path, message: 'has a % in its user or password that stands for nothing; write %25 for a plain %' },
  ];
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false; // no other reason to throw
  }
}

/** Unix milliseconds of an ISO time, or of a number in milliseconds. */
function timeMs(time: string | number): number | undefined {
  const ms = /^\d+$/.test(String(time)) ? Number(time) : Date.parse(String(time));
  return Number.isFinite(ms) ? ms : undefined;
}
