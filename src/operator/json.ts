import { Readable } from 'node:stream';
import { setImmediate as breath } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { GatewayError, parseJson } from '../plugin/index.js';
import { readText } from '../plugin/core.js';
import { isRecord } from '../kit/schema/record.js';
import type { OperatorContext } from './route.js';

/**
 * JSON text of `{...head, data}` for a long list, as a stream of chunks. Between two chunks the event loop
 * serves other requests.
 */
export function jsonInPieces<Item>(
  head: object,
  data: readonly Item[],
  report: (item: Item) => object,
): Readable {
  return Readable.from(pieces(head, data, report), { objectMode: false });
}

async function* pieces<Item>(
  head: object,
  data: readonly Item[],
  report: (item: Item) => object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"data":[`;
  for (let at = 0; at < data.length; at += pieceItems) {
    const texts = data.slice(at, at + pieceItems).map((item) => JSON.stringify(report(item)));
    yield `${at === 0 ? '' : ','}${texts.join(',')}`;
    await breath();
  }
  yield ']}';
}

/** Items per chunk: few enough to block the event loop only briefly. */
const pieceItems = 250;

type Json = Readonly<Record<string, unknown>>;

/**
 * Applies a merge patch (RFC 7396): null deletes, objects are merged, any other value replaces; a value equal
 * to the `shown` one (a redacted secret) is kept. Builds new objects throughout, safe for any key name.
 */
export function mergePatch(target: Json, patch: Json, shown: Json): Json {
  const kept = Object.entries(target).filter(([key]) => !Object.hasOwn(patch, key));
  const changed = Object.entries(patch)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, merged(own(target, key), value, own(shown, key))] as const);
  return Object.fromEntries([...kept, ...changed]);
}

function merged(before: unknown, value: unknown, shown: unknown): unknown {
  if (before !== undefined && JSON.stringify(value) === JSON.stringify(shown)) return before;
  if (!isRecord(value)) return value;
  return mergePatch(isRecord(before) ? before : {}, value, isRecord(shown) ? shown : {});
}

function own(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** JSON body of a request. Throws 415, 413 and `invalid_json`. */
export async function readBody({ req, state }: OperatorContext, maxBytes: number): Promise<unknown> {
  requireJson(req);
  const text = await readText(req, maxBytes, state.signal);
  if (text.trim() === '') throw new GatewayError('invalid_json', 'The body is empty; send a JSON object.');
  return parseJson(text);
}

/**
 * Throws 415 for other content types. Also stops cross-site forms: no browser sends JSON for them without a
 * preflight.
 */
function requireJson({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? '';
  if (type.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    const sent = type === '' ? 'none' : JSON.stringify(type);
    throw unsupported(`content-type: must be "application/json", not ${sent}.`);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw unsupported('content-encoding: the console does not accept compressed bodies.');
}

function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_media_type', message);
}
