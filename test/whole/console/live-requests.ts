import { expect } from 'chai';
import { masterKey } from '../harness.js';
import type { Answer } from './panel-client.js';

/** A reader of `/api/panel/requests/live`. */
export interface Follower {
  /** The next request that is told of. */
  next(): Promise<Answer>;
  /** All text until the end. */
  rest(): Promise<string>;
  leave(): Promise<void>;
}

/** Begins to read the live requests of a gateway; it is told of all that end from now on. */
export async function followRequests(url: string, query = ''): Promise<Follower> {
  const leave = new AbortController();
  const response = await fetch(`${url}/api/panel/requests/live${query}`, {
    headers: { 'x-api-key': masterKey },
    signal: leave.signal,
  });
  expect(response.headers.get('content-type')).to.include('text/event-stream');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const more = async () => {
    const { done, value = '' } = await reader.read();
    text += value;
    return !done;
  };
  while (!text.includes(': live\n\n')) await more();
  text = text.replace(': live\n\n', '');
  return {
    async next() {
      while (!text.includes('\n\n') && (await more()));
      const [, data, rest] = /^event: request\ndata: (.*)\n\n([^]*)$/.exec(text)!;
      text = rest!;
      return JSON.parse(data!);
    },
    async rest() {
      while (await more());
      return text;
    },
    async leave() {
      leave.abort();
      await reader.cancel().catch(() => undefined);
    },
  };
}
