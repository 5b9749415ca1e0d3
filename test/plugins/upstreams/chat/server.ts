import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { systemClock } from '#src/plugin/index.js';
import type { SlotSettings, UpstreamCall } from '#src/plugin/upstream/index.js';
import type { UpstreamKind } from '#src/plugin/contract/slot/upstream.js';
import { OpenUpstream } from '#src/engine/slots/upstream/open-upstream.js';
import { filledOptions } from '#src/testing/filled-options.js';
import chat from '#plugins/upstreams/chat/index.js';
import { aCall, silent, type Kit } from '../../../engine/transport/upstream-kit.js';

export interface OpenOptions {
  /** Options of the upstream. */
  readonly with?: object;
  readonly settings?: Partial<SlotSettings>;
  readonly clock?: typeof systemClock;
}

/** The `chat` upstream of a slot, closed with the kit. */
export function openChat(kit: Kit, baseUrl: string, options: OpenOptions = {}): Promise<OpenUpstream> {
  return openKind(chat, kit, baseUrl, options);
}

/** Upstream of a slot, closed with the kit. */
export async function openKind(
  kind: UpstreamKind,
  kit: Kit,
  baseUrl: string,
  options: OpenOptions = {},
): Promise<OpenUpstream> {
  const { settings = {}, clock = systemClock } = options;
  const slot = { id: 'team-a', headers: {}, connectTimeoutMs: 5000, maxConcurrent: 8, baseUrl, ...settings };
  const load = () => Promise.reject(new Error('It opens no other upstream.'));
  const filled = filledOptions(kind, options.with ?? {}) as Readonly<Record<string, unknown>>; // as its schema says
  const chosen = { plugin: kind, options: filled };
  const upstream = await OpenUpstream.open(slot, chosen, { load, log: silent, clock });
  kit.onClose(() => void upstream.close());
  return upstream;
}

/** A request as the server has received it. */
export interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Server that answers each request once its body was read. */
export function serveChat(
  kit: Kit,
  answer: (response: ServerResponse, asked: Asked) => unknown,
): Promise<string> {
  return kit.serve(async (request, response) => {
    const sent = await text(request);
    const { url, headers } = request;
    await answer(response, { url, headers, body: (sent ? JSON.parse(sent) : {}) as Asked['body'] });
  });
}

/** Call whose account has an API key, which it puts where the upstream says. */
export function keyedCall(overrides: Parameters<typeof aCall>[0] = {}): UpstreamCall {
  const call = aCall(overrides);
  return { ...call, authorize: ({ keyHeader = 'x-api-key' }) => ({ [keyHeader]: 'secret' }) };
}

/** Server-sent events without names. */
export function sseOf(...chunks: readonly (object | string)[]): string {
  return chunks
    .map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    .join('');
}
