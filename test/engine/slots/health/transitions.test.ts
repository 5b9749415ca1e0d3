import { expect } from 'chai';
import { effectOf, type Effect } from '#src/engine/slots/health/transitions.js';

describe('transitions', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const inSeconds = (seconds: number): string => String(nowMs / 1000 + seconds);
  const iso = (seconds: number): string => new Date(nowMs + seconds * 1000).toISOString();
  const after = (status: number, headers: Record<string, string> = {}): Effect =>
    effectOf({ kind: 'status', status, headers }, nowMs);
  const coolsFor = ({ state }: Effect): unknown =>
    typeof state === 'string' || state.untilMs === undefined ? undefined : state.untilMs - nowMs;

  for (const status of [400, 403, 404, 413, 422]) {
    it(`takes a ${status} to be about the request`, () => {
      expect(after(status)).to.deep.equal({ state: 'untouched', mayFailOver: false, mayRetryHere: false });
    });
  }

  it('takes a 408 to another slot, and leaves this one as it is', () => {
    expect(after(408)).to.deep.equal({ state: 'untouched', mayFailOver: true, mayRetryHere: true });
  });

  for (const status of [500, 502, 504]) {
    it(`takes a ${status} to the same slot once more, and leaves it as it is`, () => {
      expect(after(status)).to.deep.equal({
        state: 'untouched',
        mayFailOver: true,
        mayRetryHere: true,
        isRepeatedHere: true,
      });
    });
  }

  it('cool a slot that has not begun to answer in time like an unreachable one, which is not asked again', () => {
    const silent = effectOf({ kind: 'timeout', waitedFor: 'headers', afterMs: 10 }, nowMs);
    const unreachable = effectOf({ kind: 'unreachable', reused: false }, nowMs);
    expect(silent).to.deep.equal({ ...unreachable, mayRetryHere: false });
  });

  it('leave a slot as it is whose first token was late', () => {
    const late = effectOf({ kind: 'timeout', waitedFor: 'content', afterMs: 10 }, nowMs);
    expect(late).to.deep.equal({ state: 'untouched', mayFailOver: true, mayRetryHere: false });
  });

  for (const kind of ['interrupted', 'empty', 'foreign'] as const) {
    it(`takes a call that ended ${kind} to another slot, and leaves this one as it is`, () => {
      expect(effectOf({ kind }, nowMs)).to.deep.equal({
        state: 'untouched',
        mayFailOver: true,
        mayRetryHere: true,
      });
    });
  }

  it('cools a slot whose account has not paid, whatever the model', () => {
    const { state, mayFailOver, mayRetryHere } = after(402);
    expect(state).to.deep.include({ scope: 'slot', reason: 'rate_limited' });
    expect({ mayFailOver, mayRetryHere }).to.deep.equal({ mayFailOver: true, mayRetryHere: false });
  });

  it('takes a 429 with a wait of zero to be tried again at once', () => {
    const atOnce = { state: 'untouched', mayFailOver: true, mayRetryHere: true };
    expect(after(429, { 'retry-after': '0' })).to.deep.equal(atOnce);
    expect(after(429, { 'retry-after-ms': '0', 'retry-after': '0' })).to.deep.equal(atOnce);
  });

  it('takes a call that timed out to another slot, and does not wait for this one twice', () => {
    expect(effectOf({ kind: 'timeout' }, nowMs)).to.include({ mayFailOver: true, mayRetryHere: false });
  });

  it('rejects a slot whose credential is refused; sending it there again is no use', () => {
    expect(after(401)).to.deep.equal({ state: 'rejected', mayFailOver: true, mayRetryHere: false });
  });

  it('cools the whole slot where it cannot be reached', () => {
    const { state } = effectOf({ kind: 'unreachable', reused: false }, nowMs);
    expect(state).to.include({ scope: 'slot', reason: 'unreachable' });
  });

  for (const status of [503, 529]) {
    it(`cools the model where a ${status} says it is overloaded`, () => {
      expect(after(status).state).to.include({ scope: 'model', reason: 'overloaded', untilMs: undefined });
      expect(after(status)).to.include({ mayFailOver: true, mayRetryHere: true });
    });
  }

  it('leaves a slot in peace that says x-should-retry: false, and asks another one', () => {
    const headers = { 'x-should-retry': 'false' };
    expect(after(529, headers)).to.include({ mayFailOver: true, mayRetryHere: false });
    expect(after(500, headers)).to.deep.equal({ state: 'untouched', mayFailOver: true, mayRetryHere: false });
    expect(after(500, { 'x-should-retry': 'true' }).mayRetryHere).to.equal(true);
  });

  describe('of a 429', () => {
    it('cool the model until retry-after, in seconds or as a date', () => {
      expect(after(429, { 'retry-after': '17' }).state).to.include({
        scope: 'model',
        reason: 'rate_limited',
      });
      expect(coolsFor(after(429, { 'retry-after': '17' }))).to.equal(17_000);
      expect(coolsFor(after(429, { 'retry-after': new Date(nowMs + 8000).toUTCString() }))).to.equal(8000);
    });

    it('prefer milliseconds where they say something', () => {
      expect(coolsFor(after(429, { 'retry-after-ms': '250', 'retry-after': '1' }))).to.equal(250);
      expect(coolsFor(after(429, { 'retry-after-ms': '0', 'retry-after': '1' }))).to.equal(1000);
    });

    it('wait for the reset of the limit that is used up, where there is no retry-after', () => {
      const headers = {
        'anthropic-ratelimit-requests-remaining': '10',
        'anthropic-ratelimit-requests-reset': iso(90),
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': iso(12),
      };
      expect(coolsFor(after(429, headers))).to.equal(12_000);
    });

    it('double from a first time of their own where no header says a time to come', () => {
      expect(coolsFor(after(429, { 'retry-after': 'soon' }))).to.equal(undefined);
      expect(coolsFor(after(429, { 'retry-after': '-5' }))).to.equal(undefined);
    });

    it('cool the whole slot until its reset where a window is used up', () => {
      const exhausted = after(429, {
        'retry-after': '20',
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': inSeconds(3600),
        'anthropic-ratelimit-unified-7d-status': 'allowed',
        'anthropic-ratelimit-unified-7d-reset': inSeconds(99_999),
      });
      expect(exhausted.state).to.include({ scope: 'slot', reason: 'window_exhausted' });
      expect(coolsFor(exhausted)).to.equal(3_600_000);
    });

    it('wait for the later reset where both windows are used up', () => {
      const headers = {
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': inSeconds(10),
        'anthropic-ratelimit-unified-7d-status': 'rejected',
        'anthropic-ratelimit-unified-7d-reset': inSeconds(500),
      };
      expect(coolsFor(after(429, headers))).to.equal(500_000);
    });

    it('cool the model alone where both windows are open and something else is used up', () => {
      const headers = {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': inSeconds(40),
        'anthropic-ratelimit-unified-5h-status': 'allowed',
        'anthropic-ratelimit-unified-7d-status': 'allowed',
      };
      expect(after(429, headers).state).to.include({ scope: 'model', reason: 'rate_limited' });
      expect(coolsFor(after(429, headers))).to.equal(40_000);
    });
  });
});
