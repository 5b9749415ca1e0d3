import type { Path } from '../../config/document.js';
import type { DryRequest } from '../dry-run/outcome.js';
import { durationMs } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import type { AskedRequest, Step } from './config-test.js';
import { namedKeys, pipelinesNamed, readExpectation, slotsNamed } from './read-expectation.js';
import type { RawRequest, RawSlots, RawStep } from './test-schema.js';

/** Parts of the file that reading needs. */
export interface Reading {
  /** Defaults of every request. */
  readonly defaults: RawRequest;
  /** Contents of a JSON file, relative to the test file. Throws an Error that describes the problem. */
  readonly readBody: (file: string) => unknown;
  readonly complain: (problem: SchemaError) => void;
}

/** Keys of a request that `same: true` repeats. */
const repeated = ['post', 'get', 'method', 'path', 'as', 'headers', 'body', 'bodyFile'] as const;

/** Reads the requests of a test, each with the values that `same: true` takes from the one before it. */
export function readSteps(raw: readonly RawStep[], path: Path, reading: Reading): readonly Step[] {
  let last: RawRequest | undefined;
  const resolve = (request: RawRequest, at: Path): RawRequest => {
    if (request.same === true && !last)
      reading.complain({ path: [...at, 'same'], message: 'has no request before it to repeat' });
    const base = request.same === true ? (last ?? {}) : reading.defaults;
    const whole = mergeRequest(base, request);
    last = sentFields(whole);
    return whole;
  };
  return raw.map((step, index) => {
    const at = [...path, index];
    const { together } = step;
    if (together) {
      complainBesideTogether(step, at, reading);
      complainOfShared(together, [...at, 'together'], reading);
    }
    const requests = together
      ? together.map((one, nth) =>
          readRequest(resolve(one, [...at, 'together', nth]), [...at, 'together', nth], reading),
        )
      : [readRequest(resolve(step, at), at, reading)];
    return {
      path: at,
      afterMs: step.after === undefined ? 0 : durationMs(step.after),
      slots: readSlots(step.slots ?? {}, [...at, 'slots'], reading.complain),
      requests,
    };
  });
}

function complainBesideTogether(step: RawStep, at: Path, { complain }: Reading): void {
  const known = new Set(['together', 'after', 'slots']);
  for (const name of Object.keys(step).filter((key) => !known.has(key)))
    complain({
      path: [...at, name],
      message: 'has no meaning beside "together"; write it in each of its requests',
    });
}

/** Reports `upstream` expectations of concurrent requests, which share their upstream calls. */
function complainOfShared(requests: readonly RawRequest[], at: Path, { complain }: Reading): void {
  if (requests.length < 2) return;
  for (const [index, { expect }] of requests.entries())
    for (const key of namedKeys(expect, 'upstream'))
      complain({
        path: [...at, index, 'expect', key],
        message: 'cannot be expected of concurrent requests; write outgoing: { contains: { body: … } }',
      });
}

/**
 * Merges a request over another one: its own keys win. `post` or `get` replaces method and path, `method` or `path` only
 * itself, and a body the other's body.
 */
function mergeRequest(base: RawRequest, own: RawRequest): RawRequest {
  const given = sentFields(base);
  if (own.post !== undefined || own.get !== undefined) for (const key of addressKeys) delete given[key];
  else if (own.method !== undefined || own.path !== undefined) splitAddress(given);
  if (own.body !== undefined || own.bodyFile !== undefined) {
    delete given.body;
    delete given.bodyFile;
  }
  return { ...given, ...own };
}

const addressKeys = ['post', 'get', 'method', 'path'] as const;

/** Writes `post` and `get` as `method` and `path`, in place. */
function splitAddress(request: SentFields): void {
  for (const [key, method] of [
    ['post', 'POST'],
    ['get', 'GET'],
  ] as const) {
    const path = request[key];
    if (path === undefined) continue;
    delete request[key];
    Object.assign(request, { method, path });
  }
}

type SentFields = { -readonly [Key in (typeof repeated)[number]]?: RawRequest[Key] };

function sentFields(request: RawRequest): SentFields {
  return Object.fromEntries(
    repeated.flatMap((key) => (request[key] === undefined ? [] : [[key, request[key]]])),
  );
}

function readRequest(raw: RawRequest, path: Path, reading: Reading): AskedRequest {
  const { complain } = reading;
  const expectation = readExpectation(raw.expect, [...path, 'expect'], complain);
  const { as = {} } = raw;
  const caller = typeof as === 'string' ? { key: as } : as;
  const body = bodyOf(raw, path, reading);
  const headers = { ...caller.headers, ...raw.headers };
  const send: DryRequest = {
    ...addressOf(raw, path, reading),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
    ...(caller.key !== undefined && { key: caller.key === 'nobody' ? null : caller.key }),
    ...(raw.leave && { leave: readLeave(raw.leave) }),
  };
  const expectsConnections = namedKeys(raw.expect, 'refusedConnections').length > 0;
  return {
    path,
    send,
    expectsConnections,
    slots: slotsNamed(raw.expect, [...path, 'expect']),
    pipelines: pipelinesNamed(raw.expect, [...path, 'expect']),
    ...expectation,
  };
}

function readLeave({
  afterEvents,
  after,
}: NonNullable<RawRequest['leave']>): NonNullable<DryRequest['leave']> {
  return {
    ...(afterEvents !== undefined && { afterEvents }),
    ...(after !== undefined && { afterMs: durationMs(after) }),
  };
}

function addressOf(raw: RawRequest, at: Path, { complain }: Reading): Pick<DryRequest, 'method' | 'path'> {
  const message = addressProblem(raw);
  if (message !== undefined) complain({ path: at, message });
  const { post, get, method, path = '' } = raw;
  if (post !== undefined) return { method: 'POST', path: post };
  if (get !== undefined) return { method: 'GET', path: get };
  return { ...(method !== undefined && { method: method.toUpperCase() }), path };
}

function addressProblem({ post, get, method, path }: RawRequest): string | undefined {
  const [given, ...others] = [post, get, path].filter((each) => each !== undefined);
  if (given === undefined) return 'has no path; write "post: /v1/messages", "get: …", or "same: true"';
  if (others.length > 0 || (method !== undefined && path === undefined))
    return 'gives its path in more than one way; write "post", "get", or "method" and "path"';
  return given.startsWith('/') ? undefined : `has the path "${given.slice(0, 80)}", which must start with /`;
}

function bodyOf(raw: RawRequest, path: Path, { readBody, complain }: Reading): unknown {
  if (raw.bodyFile === undefined) return raw.body;
  const at = [...path, 'bodyFile'];
  if (raw.body !== undefined) complain({ path: at, message: 'stands beside "body"; keep one of them' });
  try {
    return readBody(raw.bodyFile);
  } catch (error) {
    complain({ path: at, message: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Scenarios by slot, as the dry gateway takes them. */
export function readSlots(
  slots: RawSlots,
  at: Path,
  complain: Reading['complain'],
): Readonly<Record<string, readonly string[]>> {
  const entries = Object.entries(slots).map(([id, { scenario, status, retryAfter }]) => {
    const place = [...at, id];
    if (scenario !== undefined && status !== undefined)
      complain({ path: place, message: 'has both "scenario" and "status"; keep one of them' });
    if (retryAfter !== undefined && status === undefined)
      complain({ path: [...place, 'retryAfter'], message: 'is allowed only beside "status"' });
    const answer = retryAfter === undefined ? String(status) : `${status} retry-after=${retryAfter}`;
    return [id, scenario === undefined ? [answer] : [scenario].flat()] as const;
  });
  return Object.fromEntries(entries);
}
