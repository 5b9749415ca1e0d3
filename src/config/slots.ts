import { didYouMean, durationMs } from '../plugin/index.js';
import type { AccountConfig, SlotConfig } from './config.js';
import type { Fault, Path, Source } from './document.js';
import type { RawSlot } from './schema.js';

/** A slot as the gateway uses it; `raw` has passed its schema and `slotProblems`. */
export function toSlot(raw: RawSlot, index: number, source: Source): SlotConfig {
  const { baseUrl, proxy } = raw;
  return {
    id: raw.id,
    upstream: raw.upstream,
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, '') }),
    account: toAccount(raw.account),
    models: [raw.models].flat(),
    maxConcurrent: raw.maxConcurrent,
    weight: raw.weight,
    ...(proxy !== undefined && { proxy }),
    headers: Object.fromEntries(
      Object.entries(raw.headers).map(([name, text]) => [name.toLowerCase(), text]),
    ),
    connectTimeoutMs: durationMs(raw.connectTimeout),
    path: `slots[${index}]`,
    at: source.positionOf(['slots', index]),
  };
}

function toAccount(raw: RawSlot['account']): AccountConfig {
  if (raw?.kind !== 'oauth') return raw ?? { kind: 'none' };
  const { expiresAt, ...account } = raw;
  const expiresAtMs = expiresAt === undefined ? undefined : timeMs(expiresAt);
  return expiresAtMs === undefined ? account : { ...account, expiresAtMs };
}

/** What no schema can say about one slot. */
export function slotFaults(slot: RawSlot, index: number): readonly Fault[] {
  return rules
    .flatMap((rule) => rule(slot))
    .map(({ path, message }) => ({ path: ['slots', index, ...path], message }));
}

/** One id for two slots would make them one in logs, bindings and `/admin/slots`. */
export function duplicateSlots(ids: readonly unknown[], source: Source): readonly Fault[] {
  return ids.flatMap((id, index) => {
    const first = ids.indexOf(id);
    if (first === index || typeof id !== 'string') return [];
    const { line } = source.positionOf(['slots', first, 'id']);
    const message = `"${id}" is the id of slots[${first}] at line ${line} already; give each slot its own`;
    return [{ path: ['slots', index, 'id'], message }];
  });
}

/** The kinds of upstream that this version has. */
const adapters: readonly string[] = ['messages', 'simulator'];

const rules: readonly ((slot: RawSlot) => readonly Fault[])[] = [
  ({ id }) =>
    /^[\x21-\x7e]+$/.test(id)
      ? []
      : [{ path: ['id'], message: 'must be plain letters, digits and signs: answers name it in a header' }],
  ({ upstream }) => {
    const meant = didYouMean(upstream, adapters);
    const cure = meant ? `did you mean "${meant}"?` : `there are ${adapters.join(' and ')}`;
    return adapters.includes(upstream)
      ? []
      : [{ path: ['upstream'], message: `"${upstream}" is not an adapter; ${cure}` }];
  },
  ({ upstream, baseUrl }) =>
    upstream === 'messages' && baseUrl === undefined
      ? [{ path: ['baseUrl'], message: 'is required: where the upstream is, `https://upstream.example`' }]
      : [],
  ({ upstream, account }) =>
    upstream === 'messages' && account === undefined
      ? [
          {
            path: ['account'],
            message:
              'is required; write `account: { kind: api-key, key: "${NAME}" }`, or `{ kind: none }` where none is asked for',
          },
        ]
      : [],
  ({ baseUrl }) => (baseUrl === undefined ? [] : urlFaults(['baseUrl'], baseUrl)),
  ({ baseUrl }) =>
    baseUrl !== undefined && /\/v1\/*$/.test(baseUrl)
      ? [{ path: ['baseUrl'], message: 'ends in /v1, which every call adds; leave it out' }]
      : [],
  ({ proxy }) => (proxy === undefined ? [] : urlFaults(['proxy'], proxy)),
  ({ account }) => (account?.kind === 'oauth' ? urlFaults(['account', 'tokenUrl'], account.tokenUrl) : []),
  ({ account }) =>
    account?.kind === 'oauth' && account.expiresAt !== undefined && timeMs(account.expiresAt) === undefined
      ? [
          {
            path: ['account', 'expiresAt'],
            message: `must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not ${JSON.stringify(account.expiresAt)}`,
          },
        ]
      : [],
  ({ headers }) =>
    Object.entries(headers).flatMap(([name, text]) =>
      /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[\r\n\0]/.test(text)
        ? []
        : [
            {
              path: ['headers', name],
              message: 'is not a header: a name of letters, digits and dashes, and a text of one line',
            },
          ],
    ),
];

/** The text of a URL may hold a password, so the message does not repeat it. */
function urlFaults(path: Path, text: string): readonly Fault[] {
  const protocol = URL.canParse(text) ? new URL(text).protocol : 'none';
  return ['http:', 'https:'].includes(protocol)
    ? []
    : [{ path, message: 'must be a URL that begins with http:// or https://' }];
}

/** Unix milliseconds of an ISO time or of a number of them. */
function timeMs(time: string | number): number | undefined {
  const ms = /^\d+$/.test(String(time)) ? Number(time) : Date.parse(String(time));
  return Number.isFinite(ms) ? ms : undefined;
}
