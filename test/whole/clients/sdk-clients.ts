import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions as OpenAIOptions } from 'openai';
import type { MessagesRequest } from '@gw2api/gateway/plugin';
import type { RecordedRequest } from '#plugins/upstreams/simulator/recorded-request.js';
import { masterKey, type GatewayUnderTest, type Pair } from '../harness.js';
import { livedMs } from '../../lived-ms.js';

/** The vendor's client as its users make it, but that it does not try again by itself. */
export function anthropicAt({ url }: GatewayUnderTest, options: AnthropicOptions = {}): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: masterKey, maxRetries: 0, logLevel: 'off', ...options });
}

/** The vendor's client of all but Messages, likewise. */
export function openaiAt({ url }: GatewayUnderTest, options: OpenAIOptions = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: masterKey, maxRetries: 0, logLevel: 'off', ...options });
}

/** The model calls that reached the upstream, oldest first; what the gateway counts for itself is not among them. */
export function modelCalls({ simulator }: Pair): readonly RecordedRequest[] {
  return simulator.requests.filter(isModelCall);
}

/** The body of the last model call. */
export function lastRequest(pair: Pair): MessagesRequest {
  return modelCalls(pair).at(-1)?.body as MessagesRequest; // the gateway sends no others
}

/** The next model call to arrive upstream. */
export function nextModelCall({ simulator }: Pair): Promise<RecordedRequest> {
  return simulator.nextRequest(isModelCall);
}

/** What a promise is rejected with; it must be an instance of `kind`. */
export async function failureOf<Failure extends Error>(
  promise: PromiseLike<unknown>,
  kind: abstract new (...args: never[]) => Failure,
): Promise<Failure> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`Nothing failed: ${JSON.stringify(outcome.value)}`);
  if (outcome.error instanceof kind) return outcome.error;
  throw outcome.error;
}

/** Calls `leave` and measures how long the upstream goes on before it sees its caller gone. */
export async function timeToAbort(exchange: RecordedRequest, leave: () => void): Promise<number> {
  return livedMs(async () => {
    leave();
    const ending = await exchange.closed;
    if (ending !== 'aborted') throw new Error(`The upstream call was ${ending}.`);
  });
}

/** A JSON Schema as the SDKs' helpers take schemas of any library; what fits it is believed to be an `Output`. */
export function standardSchema<Output>(schema: Readonly<Record<string, unknown>>) {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      types: undefined as { readonly input: Output; readonly output: Output } | undefined,
      validate: (value: unknown) => ({ value: value as Output }), // that is the belief
      jsonSchema: { input: () => ({ ...schema }) },
    },
  };
}

/** A PNG of one pixel. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What a small PDF begins with. */
export const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n').toString(
  'base64',
);

function isModelCall({ path }: RecordedRequest): boolean {
  return path === '/v1/messages';
}
