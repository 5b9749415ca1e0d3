import { expect } from 'chai';
import { refusal } from '#src/plugin/http/upstream-answer.js';

describe('the wait that a refusal names', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const waitOf = (status: number, headers: Record<string, string>, error: object = {}) => {
    const { headers: told, failure } = refusal({ status, headers }, JSON.stringify({ error }), nowMs);
    const cooled = failure?.kind === 'status' ? failure.headers : {};
    expect(told['retry-after']).to.equal(cooled['retry-after']);
    return told['retry-after'];
  };

  it("is that of Google's RetryInfo, rounded up", () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
    expect(waitOf(429, {}, { code: 429, message: 'Slow.', details })).to.equal('35');
  });

  it("is the reset in OpenRouter's metadata", () => {
    const reset = {
      'X-RateLimit-Limit': '50',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(nowMs + 90_000),
    };
    expect(waitOf(429, {}, { message: 'Slow.', metadata: { headers: reset } })).to.equal('90');
    expect(waitOf(429, {}, { message: 'Slow.', metadata: { retry_after_seconds: 12 } })).to.equal('12');
  });

  it('is that of the body where retry-after is neither a number nor a date, which nobody can read', () => {
    expect(waitOf(429, { 'retry-after': 'soon' }, { message: 'Slow.', retry_after: 8 })).to.equal('8');
    expect(waitOf(429, { 'retry-after': 'soon' }, { message: 'Slow.' })).to.equal(undefined);
    expect(waitOf(429, { 'retry-after': '0' }, { message: 'Slow.', retry_after: 8 })).to.equal('0');
  });

  it('is the reset of the limit that is used up', () => {
    const headers = {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '90',
      'x-ratelimit-reset-tokens': '7h0m0s',
    };
    expect(waitOf(429, headers)).to.equal('360');
  });

  it('is the reset of a limit of any name, in any unit', () => {
    const reset = (value: string) =>
      waitOf(429, { 'x-ratelimit-remaining-requests-day': '0', 'x-ratelimit-reset-requests-day': value });
    expect(
      [
        '120ms',
        '20',
        String(nowMs / 1000 + 30),
        String(nowMs + 40_000),
        new Date(nowMs + 50_000).toISOString(),
      ].map(reset),
    ).to.deep.equal(['1', '20', '30', '40', '50']);
  });

  it('is the only reset that is told', () => {
    expect(waitOf(429, { 'x-ratelimit-reset': '9' })).to.equal('9');
  });

  it('is the date of retry-after in whole seconds', () => {
    expect(waitOf(429, { 'retry-after': new Date(nowMs + 8000).toUTCString() })).to.equal('8');
    expect(waitOf(503, { 'retry-after': '1.2' })).to.equal('2');
    expect(waitOf(429, { 'retry-after': '7' }, { details: [{ retryDelay: '9s' }] })).to.equal('7');
  });

  it('is none where the error is not about too much, or nothing is used up', () => {
    expect(waitOf(400, { 'x-ratelimit-reset': '9' }, { retry_after: 9 })).to.equal(undefined);
    expect(
      waitOf(429, { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '9' }),
    ).to.equal(undefined);
    expect(waitOf(429, { 'x-ratelimit-reset': 'soon' })).to.equal(undefined);
  });
});
