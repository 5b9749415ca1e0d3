import { expect } from 'chai';
import { isoTime } from '#src/gateway/telemetry/logs.js';

describe('the time of a log line', () => {
  const secondMs = Date.UTC(2026, 1, 28, 23, 59, 59);

  it('is the ISO date of its moment, to the millisecond', () => {
    for (const ms of [0, 7, 42, 999, 1000, 1001, 500, 86_400_000]) expect(timeOf(secondMs + ms)).to.equal(ms);
  });

  it('is now, where nothing else is said', () => {
    const before = Date.now();
    const written = Date.parse(textOf(isoTime()));
    expect(written).to.be.within(before, Date.now());
  });

  /** The milliseconds after `secondMs` that are written for a moment. */
  function timeOf(nowMs: number): number {
    const text = textOf(isoTime(nowMs));
    expect(text).to.equal(new Date(nowMs).toISOString());
    return Date.parse(text) - secondMs;
  }

  function textOf(field: string): string {
    const { time } = JSON.parse(`{${field.slice(1)}}`) as { time: string };
    return time;
  }
});
