import { expect } from 'chai';
import { answerHeaders, estimateTokens, forwardedHeaders } from '@gw2api/gateway/plugin';

describe('forwardedHeaders', () => {
  it('lets anthropic-* through unchanged and nothing else', () => {
    const caller = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-2025-01-01,b-2025-02-02',
      'anthropic-custom': 'x',
      authorization: 'Bearer secret',
      'x-api-key': 'secret',
      'proxy-authorization': 'Basic secret',
      cookie: 'a=b',
      host: 'gateway',
      connection: 'keep-alive',
      te: 'trailers',
      'content-length': '12',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'accept-encoding': 'br',
      'user-agent': 'client/1',
      'x-stainless-lang': 'js',
      'x-forwarded-for': '192.0.2.1',
      forwarded: 'for=192.0.2.1',
      'x-gw-delivery': 'verified',
      'x-request-id': 'r1',
      'x-session-id': 's1',
      'x-claude-code-session-id': 's2',
    };
    expect(forwardedHeaders(caller)).to.deep.equal({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-2025-01-01,b-2025-02-02',
      'anthropic-custom': 'x',
    });
  });

  it('names the version of a caller who names none', () => {
    expect(forwardedHeaders({})).to.deep.equal({ 'anthropic-version': '2023-06-01' });
  });
});

describe('answerHeaders', () => {
  it('lets the request id, retry hints and rate limits through', () => {
    const passed = {
      'request-id': 'req_1',
      'retry-after': '2',
      'retry-after-ms': '1780',
      'x-should-retry': 'true',
      'anthropic-ratelimit-requests-limit': '4000',
      'x-ratelimit-remaining-tokens': '0',
    };
    const kept = {
      'content-type': 'application/json',
      'set-cookie': 'a=b',
      'anthropic-organization-id': 'org',
      server: 'x',
      'x-request-id': 'theirs',
    };
    expect(answerHeaders({ ...kept, ...passed })).to.deep.equal(passed);
  });
});

describe('estimateTokens', () => {
  it('is a quarter of the UTF-8 bytes, rounded up, and never zero', () => {
    expect(estimateTokens({ m: 'ab' })).to.equal(3);
    expect(estimateTokens({ m: 'äöü' })).to.equal(4);
    expect(estimateTokens({})).to.equal(1);
  });
});
