import { createBrotliCompress, createGzip, constants } from 'node:zlib';
import type { Transform } from 'node:stream';
import type { MessagesStreamEvent } from '@gw2api/gateway/plugin';
import type { Scenario } from '../scenarios/marker.js';

/** Encoding of events as bytes. */
export interface Framing {
  readonly eol: '\n' | '\r\n' | '\r';
  readonly hasBom: boolean;
  readonly hasComments: boolean;
  /** False: no `event:` lines. */
  readonly isNamed: boolean;
  /** Ends with `data: [DONE]`, as compatible services do. */
  readonly isDone: boolean;
  /** One byte a write. */
  readonly isBytewise: boolean;
  readonly encoding: 'gzip' | 'br' | undefined;
}

const plain: Framing = {
  eol: '\n',
  hasBom: false,
  hasComments: false,
  isNamed: true,
  isDone: false,
  isBytewise: false,
  encoding: undefined,
};

/** Scenarios that change the bytes but not the content. */
export const framingScenarios: Readonly<
  Record<string, { readonly help: string; readonly framing: Partial<Framing> }>
> = {
  bytes: { help: 'one byte a write', framing: { isBytewise: true } },
  crlf: { help: 'lines end with CR LF', framing: { eol: '\r\n' } },
  cr: { help: 'lines end with CR', framing: { eol: '\r' } },
  gzip: { help: 'content-encoding: gzip, flushed with each write', framing: { encoding: 'gzip' } },
  br: { help: 'content-encoding: br, flushed with each write', framing: { encoding: 'br' } },
  bom: { help: 'a byte order mark first', framing: { hasBom: true } },
  comments: { help: 'comment lines between and within events', framing: { hasComments: true } },
  'no-event-line': { help: 'data lines only', framing: { isNamed: false } },
  done: { help: 'data: [DONE] at the end', framing: { isDone: true } },
};

export function framingOf(scenarios: readonly Scenario[]): Framing {
  const changes = scenarios.map(({ name }) =>
    Object.hasOwn(framingScenarios, name) ? framingScenarios[name]?.framing : undefined,
  );
  return Object.assign({}, plain, ...changes) as Framing; // each change is a partial framing
}

/** One event as text. Its JSON is padded with spaces before the last brace, as the real service does. */
export function frame(event: MessagesStreamEvent, nth: number, framing: Framing): string {
  const json = event.type === 'ping' ? '{"type": "ping"}' : pad(JSON.stringify(event), (nth * 7) % 15);
  return frameData(json, event.type, framing);
}

/** An event with any data at all. */
export function frameData(data: string, type: string, { eol, isNamed, hasComments }: Framing): string {
  const comment = hasComments ? `: about ${type}${eol}` : '';
  const name = isNamed ? `event: ${type}${eol}` : '';
  return `${comment}${name}${comment && `:${eol}`}data: ${data}${eol}${eol}`;
}

export function compressorOf({ encoding }: Framing): Transform | undefined {
  if (encoding === 'gzip') return createGzip({ flush: constants.Z_SYNC_FLUSH });
  return encoding === 'br' ? createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH }) : undefined;
}

function pad(json: string, spaces: number): string {
  return `${json.slice(0, -1)}${' '.repeat(spaces)}}`;
}
