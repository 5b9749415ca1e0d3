import { expect } from 'chai';
import { CacheLedger } from '#src/features/cache-ledger/cache-ledger.js';
import { KeyedHash } from '#src/features/cache-ledger/keyed-hash.js';
import type { CacheLoss } from '#src/state/ledger/contract.js';
import type { Message, MessagesRequest } from '#src/plugin/index.js';
import type { RequestVersion } from '#src/engine/trace/request-versions.js';

const minuteMs = 60_000;

interface Turn {
  readonly texts: readonly string[];
  /** Minutes after the start. */
  readonly at?: number;
  readonly read?: number;
  readonly written?: number;
  readonly fields?: Partial<MessagesRequest>;
  readonly slot?: string;
  readonly answeredAfterMs?: number;
  readonly isWhole?: boolean;
  readonly versions?: (request: MessagesRequest) => readonly RequestVersion[];
}

describe('the cache ledger', () => {
  let ledger: CacheLedger;
  beforeEach(() => (ledger = new CacheLedger()));

  /** Adds a turn whose messages are these texts, in turn of the user and of the assistant; the last one is marked. */
  function turn(
    session: string,
    { texts, at = 0, read = 0, written = 0, fields, ...other }: Turn,
  ): CacheLoss | undefined {
    const request = requestOf(texts, fields);
    const startedMs = at * minuteMs;
    const { slot = 'a', answeredAfterMs = 500, isWhole = true, versions = asSent } = other;
    const times = { startedMs, answeredMs: startedMs + answeredAfterMs };
    const call = {
      slot,
      model: request.model,
      ...times,
      readTokens: read,
      writtenTokens: written,
      inputTokens: 1000,
    };
    return ledger.add({ session, versions: versions(request), call, isWhole });
  }

  it('says nothing of a first turn, nor of one that reads what was there', () => {
    expect(turn('s', { texts: ['u1'], written: 100 })).to.equal(undefined);
    expect(turn('s', { texts: ['u1', 'a1', 'u2'], at: 1, read: 100, written: 50 })).to.equal(undefined);
  });

  it('compares a turn with the conversation that it goes on from, of several in a session', () => {
    turn('s', { texts: ['main 1'], written: 1000 });
    turn('s', { texts: ['agent 1'], at: 1, written: 50 });
    expect(turn('s', { texts: ['agent 1', 'answer', 'agent 2'], at: 2, read: 50 })).to.equal(undefined);
    expect(turn('s', { texts: ['main 1', 'answer', 'main 2'], at: 3, read: 400 })).to.deep.equal({
      cause: 'provider',
      detail: 'nothing changed',
      lostTokens: 600,
    });
  });

  it('says nothing of another conversation with the same system prompt', () => {
    turn('s', { texts: ['one'], written: 1000, fields: { system: 'Be brief.' } });
    expect(turn('s', { texts: ['two'], at: 1, fields: { system: 'Be brief.' } })).to.equal(undefined);
  });

  it('says nothing of the same words in another session', () => {
    turn('s', { texts: ['u1'], written: 1000 });
    expect(turn('t', { texts: ['u1', 'a1', 'u2'], at: 1 })).to.equal(undefined);
  });

  it('says nothing where the earlier turn had not begun to answer', () => {
    turn('s', { texts: ['u1'], written: 1000, answeredAfterMs: 5 * minuteMs });
    expect(turn('s', { texts: ['u1'], at: 1 })).to.equal(undefined);
  });

  it('says nothing of an answer that was broken off, and does not count on its cache', () => {
    turn('s', { texts: ['u1'], written: 1000 });
    expect(turn('s', { texts: ['u1', 'a1', 'u2'], at: 1, isWhole: false })).to.equal(undefined);
    expect(turn('s', { texts: ['u1', 'a1', 'u2'], at: 2 })).to.equal(undefined);
  });

  it('says nothing where a session comes back to a slot that still has its cache', () => {
    turn('s', { texts: ['u1'], written: 100 });
    expect(turn('s', { texts: ['u1', 'a1', 'u2'], at: 1, slot: 'b', written: 200 })?.cause).to.equal(
      'slot_moved',
    );
    const texts = ['u1', 'a1', 'u2', 'a2', 'u3'];
    expect(turn('s', { texts, at: 2, read: 100, written: 200 })).to.equal(undefined);
  });

  it('counts a lifetime from the last turn that has read the prefix', () => {
    turn('s', { texts: ['u1'], written: 100, fields: { system: marked('5m') } });
    turn('s', { texts: ['u1', 'a1', 'u2'], at: 4, read: 100, fields: { system: marked('5m') } });
    const third = { texts: ['u1', 'a1', 'x2'], at: 8, fields: { system: marked('5m') } };
    expect(turn('s', third)?.cause).to.equal('provider');
    const later = { texts: ['u1', 'a1', 'x2', 'a3', 'u4'], at: 20, fields: { system: marked('5m') } };
    turn('s', { ...third, at: 9, written: 300 });
    expect(turn('s', later)).to.include({ cause: 'expired', lostTokens: 300 });
  });

  it('is not sure where turns between were answered elsewhere', () => {
    turn('s', { texts: ['u1'], written: 100 });
    expect(turn('s', { texts: ['u1', 'a1', 'u2', 'a2', 'u3'], at: 1 })?.cause).to.equal('unknown');
  });

  it('is not sure where effort and a message have changed', () => {
    turn('s', { texts: ['u1', 'a1', 'u2'], written: 100 });
    const fields = { output_config: { effort: 'low' } };
    expect(turn('s', { texts: ['u1', 'b1', 'u2', 'a2', 'u3'], at: 1, fields })?.cause).to.equal('unknown');
  });

  it('counts no more than the turn has paid for', () => {
    turn('s', { texts: ['u1', 'a1', 'u2', 'a2', 'u3'], written: 50_000 });
    expect(turn('s', { texts: ['u2', 'a2', 'u3', 'a3', 'u4'], at: 1 })).to.deep.equal({
      cause: 'client_changed',
      detail: 'message 1',
      lostTokens: 1000,
    });
  });

  it('finds the first of many messages that has changed', () => {
    const texts = Array.from({ length: 41 }, (_, at) => `message ${at}`);
    for (let at = 0; at < 40; at += 1) {
      const session = `changed at ${at}`;
      turn(session, { texts, written: 100 });
      const changed = texts.map((text, place) => (place === at || place > 37 ? `${text}, changed` : text));
      expect(turn(session, { texts: [...changed, 'answer', 'next'], at: 1 })).to.include({
        cause: 'client_changed',
        detail: `message ${Math.min(at, 38) + 1}`,
      });
    }
  });

  it('blames the client for what a stage has only translated', () => {
    const upper = (request: MessagesRequest): readonly RequestVersion[] => {
      const rewritten = JSON.parse(JSON.stringify(request).replaceAll('secret', '***')) as MessagesRequest; // the same shape
      return [...asSent(request), { by: 'redact', request: rewritten }];
    };
    turn('s', { texts: ['a secret', 'a1', 'u2'], written: 100, versions: upper });
    const next = { texts: ['the secret', 'a1', 'u2', 'a2', 'u3'], at: 1, versions: upper };
    expect(turn('s', next)).to.include({ cause: 'client_changed', detail: 'message 1' });
  });

  it('takes requests of any shape', () => {
    const odd: unknown[] = [
      null,
      7,
      'text',
      { role: 5, content: { a: [] } },
      { content: [null, [[]], { content: 'x' }] },
    ];
    for (const system of [null, 3, {}, [null], 'text'])
      turn('odd', {
        texts: [],
        fields: { messages: odd, tools: [null, 1], system } as unknown as Partial<MessagesRequest>,
      }); // not validated
    turn('odd', { texts: [], fields: { messages: null, tools: {} } as unknown as Partial<MessagesRequest> });
  });

  it('is bounded, and forgets the session that was idle longest', () => {
    ledger = new CacheLedger({ maxBytes: 100_000 });
    for (let at = 0; at < 500; at += 1) turn(`s${at}`, { texts: [`u${at}`], written: 100 });
    expect(ledger.bytes).to.be.below(100_000);
    expect(turn('s499', { texts: ['u499', 'a', 'u'], at: 1 })?.cause).to.equal('provider');
    expect(turn('s0', { texts: ['u0', 'a', 'u'], at: 1 })).to.equal(undefined);
  });

  it('forgets what no provider can have', () => {
    turn('s', { texts: ['u1'], written: 100 });
    turn('t', { texts: ['u1'], at: 71, written: 100 });
    expect(turn('s', { texts: ['u1', 'a1', 'u2'], at: 72 })).to.equal(undefined);
  });
});

describe('a keyed hash', () => {
  const hash = new KeyedHash();

  it('is the same for equal values, with or without a cache marker', () => {
    const block = { type: 'text', text: 'naïve 🌍 '.repeat(9000), list: [1, 2.5, true, null] };
    expect(hash.of({ ...structuredClone(block), cache_control: { type: 'ephemeral' } })).to.equal(
      hash.of(block),
    );
  });

  it('differs between values of other shapes', () => {
    const values = [
      { a: { b: 1 }, c: 2 },
      { a: { b: 1, c: 2 } },
      { a: '' },
      { a: 0 },
      { a: 'null' },
      { a: null },
    ];
    expect(new Set(values.map((value) => hash.of(value))).size).to.equal(values.length);
  });

  it('differs between values that differ in one place, and between keys', () => {
    const texts = Array.from({ length: 2000 }, (_, at) => 'x'.repeat(at));
    const values = [
      ...texts,
      ...texts.map((text) => `${text}y`),
      ...texts.map((text) => [text]),
      ...texts.map((text) => ({ text })),
    ];
    expect(new Set(values.map((value) => hash.of(value))).size).to.equal(values.length);
    expect(new KeyedHash().of('text')).not.to.equal(hash.of('text'));
  });
});

function asSent(request: MessagesRequest): readonly RequestVersion[] {
  return [{ by: 'format-decode', request }];
}

function requestOf(texts: readonly string[], fields: Partial<MessagesRequest> = {}): MessagesRequest {
  const messages = texts.map((text, at): Message => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: [
      {
        type: 'text',
        text,
        ...(at === texts.length - 1 && {
          cache_control: { type: 'ephemeral', ttl: fields.system ? '5m' : '1h' } as const,
        }),
      },
    ],
  }));
  return { model: 'sonnet-5', messages, ...fields };
}

function marked(ttl: '5m' | '1h') {
  return [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl } } as const];
}
