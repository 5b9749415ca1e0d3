import { expect } from 'chai';
import { bodiesOf } from './bodies.js';
import { sessionBody } from './sessions.js';

const ask = { format: 'messages', isStream: true, script: 'cached-16', sessions: 'agent' } as const;

/** A body, and the text of its messages without the cache markers, which move from turn to turn. */
function read(number: number): { readonly body: Body; readonly messages: readonly string[] } {
  const body = JSON.parse(sessionBody(ask, number)) as Body; // an agent's
  const unmarked = JSON.stringify(body.messages).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
  return { body, messages: (JSON.parse(unmarked) as object[]).map((message) => JSON.stringify(message)) };
}

interface Body {
  readonly tools: readonly object[];
  readonly system: readonly object[];
  readonly metadata: { readonly user_id: string };
  readonly messages: readonly object[];
}

describe('the sessions of a bench', () => {
  it('send an agent’s turn of 150 kB with 30 tools and 81 messages, both on average', () => {
    const bodies = bodiesOf(ask, 0, 200);
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length;
    const counts = Array.from({ length: 15 }, (_, at) => read(at * 200).body.messages.length);
    expect(bytes).to.be.within(145_000, 155_000);
    expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).to.equal(81);
    expect(read(0).body.tools).to.have.length(30);
    expect(read(0).body.system).to.have.length(2);
    expect(sessionBody(ask, 0).match(/"cache_control"/g)).to.have.length(3);
  });

  it('repeat the turn before and add two messages to it', () => {
    const [before, after] = [read(7), read(207)];
    expect(after.body.metadata).to.deep.equal(before.body.metadata);
    expect(after.body.tools).to.deep.equal(before.body.tools);
    expect(after.messages).to.have.length(before.messages.length + 2);
    expect(after.messages.slice(0, -2)).to.deep.equal(before.messages);
  });

  it('share no text with another session, nor with an earlier conversation of their own', () => {
    const known = new Set(read(0).messages);
    for (const number of [1, 200 * 15]) {
      const { messages } = read(number);
      expect(messages.filter((message) => known.has(message))).to.deep.equal([]);
    }
  });

  it('are one body for all requests where there are none', () => {
    expect(bodiesOf({ format: 'messages', isStream: true, script: 'words-1' }, 0, 1000)).to.have.length(1);
  });
});
