import type { Loss, LossOptions } from '../contract/loss.js';
import type { MessagesRequest } from '../contract/messages.js';
import { changedError, GatewayError } from '../contract/error.js';
import { extraOfPath } from '../stage/extras.js';
import { originalPath } from './original-path.js';

/** Part of a response that a report needs. */
export interface Answer {
  /** Empty or undefined if the header is not set. */
  get(header: string): string | undefined;
  set(header: string, value: string): void;
  remove?(header: string): void;
  readonly headerSent?: boolean;
}

/** Decoded request with the caller's names of its parts. */
export interface DecodedPaths {
  readonly request: MessagesRequest;
  readonly pathOf?: ((path: string) => string | undefined) | undefined;
  readonly unsupported: 'report' | 'reject';
}

/** Losses of one request, from its decoder, its stages and its last call, as `x-gw-dropped` names them. */
class LossReport {
  readonly #answer: Answer;
  #own: readonly Loss[] = none;
  #ofStages: readonly Loss[] = none;
  #ofCall: readonly Loss[] = none;
  #decoded: DecodedPaths | undefined;
  /** Errors that name the caller's own paths. */
  #refusals: readonly GatewayError[] = none;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  get unsupported(): DecodedPaths['unsupported'] {
    return this.#decoded?.unsupported ?? 'report';
  }

  /** Sets the translation for paths of stages and calls. */
  decoded(paths: DecodedPaths): void {
    this.#decoded = paths;
  }

  /** Adds losses by the caller's own paths. */
  addOwn(given: readonly (string | Loss)[], options?: LossOptions): void {
    const losses = asLosses(given);
    this.#refuse(losses, options);
    this.#own = [...this.#own, ...losses];
    this.#write();
  }

  /** Adds losses by paths of the Messages request that a stage has received. */
  addStage(losses: readonly (string | Loss)[], request: MessagesRequest, options?: LossOptions): void {
    const named = this.#named(asLosses(losses), request);
    this.#refuse(named, options);
    this.#ofStages = [...this.#ofStages, ...named];
    this.#write();
  }

  /** Forgets the losses of the former call: only those of the last call are shown. */
  beginCall(): void {
    if (this.#ofCall.length === 0) return;
    this.#ofCall = none;
    this.#write();
  }

  /** Adds losses of the present call. */
  addCall(losses: readonly (string | Loss)[], request: MessagesRequest, options?: LossOptions): void {
    if (losses.length === 0) return;
    const named = this.#named(asLosses(losses), request);
    this.#refuse(named, options);
    this.#ofCall = [...this.#ofCall, ...named];
    this.#write();
  }

  /** Error of a call that begins with a path of its request, by the caller's own path. */
  callersError(error: GatewayError, request: MessagesRequest): GatewayError {
    const { code, failure, message, param = '' } = error;
    const isOurs = code === 'invalid_request' && !failure && !this.#refusals.includes(error);
    if (!isOurs || param === '' || !message.startsWith(`${param}: `)) return error;
    const [loss] = this.#named([{ path: param, kind: 'setting' }], request);
    if (!loss || loss.path === param) return error;
    return changedError(error, { message: loss.path + message.slice(param.length), param: loss.path });
  }

  #named(losses: readonly Loss[], sent: MessagesRequest): readonly Loss[] {
    const { request = sent, pathOf = same } = this.#decoded ?? {};
    return sortedByKind(losses)
      .slice(0, maxNamed)
      .flatMap((loss) => {
        const original = originalPath(loss.path, sent, request);
        const path = original && callersPath(original, pathOf);
        return path ? [{ ...loss, path }] : [];
      });
  }

  #refuse(losses: readonly Loss[], { reject = this.unsupported === 'reject' }: LossOptions = {}): void {
    const lost = losses.filter(({ kind }) => kind !== 'mend');
    if (!reject || lost.length === 0) return;
    const paths = [...new Set(lost.map(({ path }) => path))];
    const error = new GatewayError(
      'invalid_request',
      `${droppedHeader(paths)}: cannot be expressed upstream. Remove it, or set "unsupported: report".`,
    );
    this.#refusals = [...this.#refusals, error];
    throw error;
  }

  #write(): void {
    const answer = this.#answer;
    if (answer.headerSent) return;
    const losses = [...this.#own, ...this.#ofStages, ...this.#ofCall];
    const paths = new Set(sortedByKind(losses).map(({ path }) => oneItem(path)));
    if (paths.size > 0) answer.set(header, droppedHeader([...paths]));
    else answer.remove?.(header);
  }
}

const header = 'x-gw-dropped';

type PathOf = NonNullable<DecodedPaths['pathOf']>;

const same: PathOf = (path) => path;

/** Caller's path: an extra has its own name, unless the format has another one for it; that of a block is its message's. */
function callersPath(path: string, pathOf: PathOf): string | undefined {
  const extra = extraOfPath(path);
  if (!extra) return pathOf(path);
  const { place } = extra;
  const name = extra.name.replaceAll(/[^\x21-\x7e]/g, '?');
  const own = place === '' ? pathOf(path) : undefined;
  if (place === '') return own === undefined || own === path ? name : own;
  const owner = pathOf(place)?.replace(/(?:\.content.*|(?<=^system)\[\d+\])$/s, '');
  return owner && `${owner}.${name}`;
}

/** Path as one item of a list: names of a caller may hold commas. */
function oneItem(path: string): string {
  return path.replaceAll(',', '?');
}

/** Losses by their kinds, since the header is cut at its end. */
function sortedByKind(losses: readonly Loss[]): readonly Loss[] {
  return order.flatMap((kind) => losses.filter((loss) => loss.kind === kind));
}

const order = ['content', 'setting', 'mend'] as const satisfies readonly Loss['kind'][];

/**
 * Max named losses of one call, each of which may need a search of the whole request; the header has no room for more.
 */
const maxNamed = 200;

const none: readonly never[] = [];

/** Report of a response, stored on it: an entry in a `WeakMap` for each request costs the garbage collector more. */
const ofAnswer = Symbol('losses');

type KeptReport = Answer & { [ofAnswer]?: LossReport };

/** Report of a response; the same for each call. */
export function lossReport(answer: KeptReport): LossReport {
  return (answer[ofAnswer] ??= new LossReport(answer));
}

/** Losses with the kind of a setting for plain paths. */
function asLosses(losses: readonly (string | Loss)[]): readonly Loss[] {
  return losses.map((loss) => (typeof loss === 'string' ? { path: loss, kind: 'setting' } : loss));
}

/** Adds paths of the caller's body that could not be passed on unchanged to `x-gw-dropped`. */
export function reportDropped(answer: Answer, paths: readonly (string | Loss)[]): void {
  if (paths.length > 0) lossReport(answer).addOwn(paths, { reject: false });
}

/** The same for a stage that names parts of its Messages request: `tools[0].strict`. */
export function reportLosses(
  answer: Answer,
  request: MessagesRequest,
  losses: readonly (string | Loss)[],
): void {
  if (losses.length > 0) lossReport(answer).addStage(losses, request);
}

/** Header value for dropped fields, in ASCII and cut to `maxLength`, since callers choose field names. */
export function droppedHeader(fields: readonly string[], maxLength = 1000): string {
  const all = fields.join(', ').replaceAll(/[^\x20-\x7e]/g, '?');
  if (all.length <= maxLength) return all;
  const lastComma = all.lastIndexOf(', ', maxLength);
  return `${all.slice(0, lastComma > 0 ? lastComma : maxLength)}, ...`;
}
