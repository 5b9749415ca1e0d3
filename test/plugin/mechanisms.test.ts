import { expect } from 'chai';
import { addUsage, GatewayError, headerChoice, stickyKey, withHeaders } from '@gw2api/gateway/plugin';

describe('addUsage', () => {
  it('adds what is a number, nested or not, and keeps the rest', () => {
    const first = {
      input_tokens: 1,
      cache_read_input_tokens: null,
      cache_creation: { ephemeral_5m_input_tokens: 2 },
      service_tier: 'standard',
    };
    const second = {
      input_tokens: 2,
      cache_read_input_tokens: 5,
      cache_creation: { ephemeral_5m_input_tokens: 3 },
      output_tokens: 0,
    };
    expect(addUsage(first, second)).to.deep.equal({
      input_tokens: 3,
      cache_read_input_tokens: 5,
      cache_creation: { ephemeral_5m_input_tokens: 5 },
      service_tier: 'standard',
      output_tokens: 0,
    });
  });
});

describe('headerChoice', () => {
  it('is undefined where the header is absent or empty', () => {
    expect(headerChoice({}, 'x-gw-a', ['on'])).to.equal(undefined);
    expect(headerChoice({ 'x-gw-a': ' ' }, 'x-gw-a', ['on'])).to.equal(undefined);
  });

  it('takes a choice in any case and refuses everything else', () => {
    expect(headerChoice({ 'x-gw-a': ' ON ' }, 'x-gw-a', ['on', 'off'])).to.equal('on');
    expect(() => headerChoice({ 'x-gw-a': 'maybe' }, 'x-gw-a', ['on', 'off'])).to.throw(
      'x-gw-a: must be "on" or "off", not "maybe".',
    );
  });
});

describe('stickyKey', () => {
  it('shows neither the session nor anything else than the key id', () => {
    expect(stickyKey('k1', { 'x-session-id': 'secret' })).to.match(/^k1:[0-9a-f]{64}$/);
  });

  it('passes over what is no name', () => {
    const body = { a: null, b: 5, c: {}, d: '', e: { f: 's' } };
    const named = (from: readonly string[]) => stickyKey('k1', { 'x-session-id': ' ' }, { from, body });
    expect(named(['a', 'b', 'c', 'd', 'a.b', 'e.constructor'])).to.equal(undefined);
    expect(named(['d', 'e.f'])).to.equal(stickyKey('k1', { 'x-session-id': 's' }));
  });
});

describe('withHeaders', () => {
  it('keeps everything else, and the headers that are there', () => {
    const failure = { kind: 'timeout' } as const;
    const cause = new Error('why');
    const options = {
      status: 529,
      type: 't',
      details: { a: 1 },
      headers: { 'retry-after': '1' },
      failure,
      cause,
    };
    const error = withHeaders(new GatewayError('c', 'm', options), { 'retry-after': '9', 'x-gw-slot': 'a' });
    expect(error).to.include({ code: 'c', message: 'm', status: 529, type: 't', failure, cause });
    expect(error.toJSON().error.details).to.deep.equal({ a: 1 });
    expect(error.headers).to.deep.equal({ 'retry-after': '1', 'x-gw-slot': 'a' });
  });
});
