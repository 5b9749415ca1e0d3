import { expect } from 'chai';
import { assert, constantFrom, property } from 'fast-check';
import { cacheMarkers, markLastBlock, type GatewayState, type MessagesRequest } from '#src/plugin/index.js';
import type { CacheControl } from '#src/plugin/format/index.js';
import { runStage } from '@gw2api/gateway/testing';
import cacheTtl, { withTtl } from '#plugins/cache-ttl.js';

describe('cache-ttl', () => {
  it('gives an hour to markers that say nothing', () => {
    expect(ttls(withTtl(request(marker(), undefined, marker(), marker()), '1h'))).to.deep.equal([
      '1h',
      '1h',
      '1h',
    ]);
  });

  it('keeps what markers say', () => {
    const sent = request(marker('1h'), marker('1h'), marker('5m'));
    expect(withTtl(sent, '1h')).to.equal(sent);
  });

  it('makes everything after a 5m marker 5m', () => {
    expect(ttls(withTtl(request(marker(), marker('5m'), marker('1h'), marker()), '1h'))).to.deep.equal([
      '1h',
      '5m',
      '5m',
      '5m',
    ]);
  });

  it('never gives an order that the upstream refuses', () => {
    const any = constantFrom(undefined, marker(), marker('5m'), marker('1h'));
    assert(
      property(any, any, any, any, constantFrom('5m', '1h'), (a, b, c, d, ttl) => {
        const given = ttls(withTtl(request(a, b, c, d), ttl));
        expect(given).to.not.include(undefined);
        expect(given.lastIndexOf('1h')).to.be.lessThan(given.includes('5m') ? given.indexOf('5m') : Infinity);
      }),
    );
  });

  it('makes all markers 5m with x-gw-cache-ttl: 5m', async () => {
    const { state } = await run(request(marker('1h'), marker()), { headers: { 'x-gw-cache-ttl': '5m' } });
    expect(ttls(state.request)).to.deep.equal(['5m', '5m']);
  });

  it('answers 400 to any other value of that header', async () => {
    const { status, body } = await run(request(), { headers: { 'x-gw-cache-ttl': '1h' } });
    expect(status).to.equal(400);
    expect(body).to.have.nested.property('error.message', 'x-gw-cache-ttl: must be "5m", not "1h".');
  });

  it('takes another default from the operator', async () => {
    const { state } = await run(request(marker()), { options: { ttl: '5m' } });
    expect(ttls(state.request)).to.deep.equal(['5m']);
  });

  it('leaves a Messages request without markers as it is', async () => {
    const sent = request();
    expect((await run(sent)).state.request).to.equal(sent);
  });

  it('marks the last block of a translated request', async () => {
    const { state } = await run(request(), { state: { format: 'chat' } });
    expect(state.request.messages[0]!.content[0]).to.have.deep.property('cache_control', marker('1h'));
  });

  it('does not where the operator, or a marker of the caller, says otherwise', async () => {
    const off = await run(request(), { state: { format: 'chat' }, options: { auto: false } });
    expect(ttls(off.state.request)).to.deep.equal([]);
    const own = await run(request(marker()), { state: { format: 'chat' } });
    expect(ttls(own.state.request)).to.deep.equal(['1h']);
  });

  it('does not take a marker of our own for one of the caller', async () => {
    const sent = request(undefined, marker());
    const additions = { system: [{ type: 'text', text: 's', cache_control: marker() }], tools: [] } as const;
    const { state } = await run(sent, { state: { format: 'responses', additions } });
    expect(ttls(state.request)).to.deep.equal(['1h', '1h']);
  });

  it('names the markers that it has added, and those that it has given a ttl', async () => {
    const mute = await run(request(), { state: { format: 'chat' } });
    const said = await run(request(marker('1h'), marker()));
    expect([mute, said].map(({ state }) => [...(state.additions.markers ?? [])])).to.deep.equal([
      [[marker('1h'), 'marker']],
      [[marker('1h'), 'ttl']],
    ]);
    expect(cacheMarkers(said.state.request)[1]).to.equal([...said.state.additions.markers!.keys()][0]);
  });

  it('passes over blocks that may have no marker', () => {
    const sent: MessagesRequest = {
      model: 'm',
      messages: [
        { role: 'user', content: 'question' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '', signature: 's' },
            { type: 'text', text: '' },
          ],
        },
      ],
    };
    expect(markLastBlock(sent, marker('1h')).messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'question', cache_control: marker('1h') }] },
      sent.messages[1],
    ]);
  });

  it('passes over late system text, which may be written into the turn before', () => {
    const sent: MessagesRequest = {
      model: 'm',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: '9 left' },
      ],
    };
    const [said, late] = markLastBlock(sent, marker('1h')).messages;
    expect(said).to.have.nested.property('content[0].cache_control');
    expect(late).to.equal(sent.messages[1]);
  });

  it('marks nothing where four are set, or nothing can be marked', () => {
    const full = request(marker(), marker(), marker(), marker());
    expect(markLastBlock(full, marker('1h'))).to.equal(full);
    const empty: MessagesRequest = { model: 'm', messages: [{ role: 'user', content: '' }] };
    expect(markLastBlock(empty, marker('1h'))).to.equal(empty);
  });
});

function marker(ttl?: '5m' | '1h'): CacheControl {
  return { type: 'ephemeral', ...(ttl && { ttl }) };
}

/** Four places for a marker, in the order in which the upstream reads them. */
function request(
  tool?: CacheControl,
  system?: CacheControl,
  block?: CacheControl,
  top?: CacheControl,
): MessagesRequest {
  return {
    model: 'm',
    tools: [{ name: 't', input_schema: {}, ...(tool && { cache_control: tool }) }],
    system: [{ type: 'text', text: 's', ...(system && { cache_control: system }) }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'u', ...(block && { cache_control: block }) }] },
    ],
    ...(top && { cache_control: top }),
  };
}

function ttls(sent: MessagesRequest) {
  return cacheMarkers(sent).map(({ ttl }) => ttl);
}

interface RunOptions {
  readonly headers?: Record<string, string>;
  readonly options?: Record<string, unknown>;
  readonly state?: Partial<GatewayState>;
}

function run(sent: MessagesRequest, { state, ...rest }: RunOptions = {}) {
  return runStage(cacheTtl, { ...rest, state: { request: sent, ...state } });
}
