import { expect } from 'chai';
import { forecast, type UsePoint } from '#src/features/slots/history/forecast.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const lengthMs = 5 * hourMs;
const startMs = Date.UTC(2026, 10, 22, 12);
const resetsAtMs = startMs + lengthMs;

describe('the forecast of a usage window', () => {
  it('finds the time when a steady use fills it, with a narrow band, whatever the pace', () => {
    for (const random of seeds(200)) {
      const pace = 21 + random() * 79; // percent an hour: full before the reset
      const fullMs = startMs + (100 / pace) * hourMs;
      const until = startMs + Math.max(15 * minuteMs, random() * 0.95 * (fullMs - startMs));
      if (until >= fullMs) continue;
      const found = forecast(
        points(until, (hours) => pace * hours),
        lengthMs,
      );
      expect(found.verdict).to.equal('fills');
      expect(found.fullAtMs).to.be.closeTo(fullMs, 3 * minuteMs);
      expect(found.earliestMs).to.be.at.most(found.fullAtMs!);
      expect(found.latestMs).to.be.within(found.fullAtMs!, found.fullAtMs! + 5 * minuteMs);
      expect(found.percentPerHour).to.be.closeTo(pace, 1);
      expect(found.percentAtReset).to.equal(100);
    }
  });

  it('says that a slower use holds, and what it comes to', () => {
    for (const random of seeds(100)) {
      const pace = random() * 19;
      const found = forecast(
        points(startMs + (1 + 3 * random()) * hourMs, (hours) => pace * hours),
        lengthMs,
      );
      expect(found.verdict).to.equal('holds');
      expect(found.fullAtMs).to.equal(undefined);
      expect(found.percentAtReset).to.be.closeTo(pace * 5, 1);
    }
  });

  it('has the end of generated bursts in its band, in nine of ten', () => {
    let within = 0;
    let all = 0;
    for (const random of seeds(300)) {
      const steps = Array.from({ length: 300 }, () => (random() < 0.3 ? random() * 4 : 0));
      const sums: number[] = [];
      for (const step of steps) sums.push(Math.min(100, (sums.at(-1) ?? 0) + step));
      const fullAt = sums.findIndex((sum) => sum >= 100);
      const nowAt = 60;
      if (fullAt <= nowAt) continue;
      const known = sums.slice(0, nowAt + 1).map((sum, at) => point(startMs + at * minuteMs, sum));
      const { verdict, earliestMs = Infinity, latestMs = Infinity } = forecast(known, lengthMs);
      expect(verdict).to.not.equal('unknown');
      const fullMs = startMs + fullAt * minuteMs;
      // The band of an even process: as wide as the paces were, and a quarter of the way for what is still to come.
      const slackMs = (fullMs - startMs) / 4;
      all += 1;
      if (fullMs >= earliestMs - slackMs && fullMs <= latestMs + slackMs) within += 1;
    }
    expect(all).to.be.above(100);
    expect(within / all).to.be.above(0.9);
  });

  it('counts from the last reset, whatever was before it', () => {
    for (const random of seeds(100)) {
      const before = Array.from({ length: 100 }, (_, at) => ({
        ...point(startMs - (100 - at) * minuteMs, random() * 100),
        resetsAtMs: startMs,
      }));
      const now = points(startMs + hourMs, (hours) => 40 * hours);
      expect(forecast([...before, ...now], lengthMs)).to.deep.equal(forecast(now, lengthMs));
      const moved = before.map((each) => ({ ...each, resetsAtMs, percentUsed: 60 + each.percentUsed / 3 }));
      expect(forecast([...moved, ...now], lengthMs)).to.deep.equal(forecast(now, lengthMs));
    }
  });

  it('says that an idle window holds', () => {
    const found = forecast(
      points(startMs + 2 * hourMs, () => 37),
      lengthMs,
    );
    expect(found).to.deep.equal({ verdict: 'holds', percentPerHour: 0, percentAtReset: 37 });
  });

  it('slows down after a burst that has ended, and keeps the fast pace in its band', () => {
    const burst = points(startMs + 3 * hourMs, (hours) => Math.min(60, hours * 80));
    const found = forecast(burst, lengthMs);
    expect(found.verdict).to.equal('holds');
    expect(found.earliestMs).to.be.within(startMs + 3 * hourMs, resetsAtMs);
  });

  it('does not guess from too little', () => {
    expect(forecast([], lengthMs)).to.deep.equal({ verdict: 'unknown' });
    expect(forecast([point(startMs, 50)], lengthMs)).to.deep.equal({ verdict: 'unknown' });
    expect(
      forecast(
        points(startMs + 9 * minuteMs, (hours) => hours),
        lengthMs,
      ).verdict,
    ).to.equal('unknown');
    expect(
      forecast(
        points(startMs + 11 * minuteMs, (hours) => hours),
        lengthMs,
      ).verdict,
    ).to.equal('holds');
    expect(forecast([point(resetsAtMs, 50)], lengthMs), 'reset').to.deep.equal({ verdict: 'unknown' });
  });

  it('says that a full window is full', () => {
    const full = { verdict: 'full', fullAtMs: startMs, percentAtReset: 100 };
    expect(forecast([point(startMs, 100)], lengthMs)).to.deep.equal(full);
  });

  it('is not moved by one wrong point, and reads a thousand points at once', () => {
    const steady = points(startMs + 2 * hourMs, (hours) => 30 * hours, 6000);
    const at = Math.floor(steady.length / 2);
    const wrong = steady.map((each, index) =>
      index === at ? { ...each, percentUsed: each.percentUsed + 0.9 } : each,
    );
    expect(steady.length).to.be.above(1000);
    expect(forecast(wrong, lengthMs).fullAtMs).to.be.closeTo(startMs + (10 / 3) * hourMs, 2 * minuteMs);
  });
});

function point(atMs: number, percentUsed: number): UsePoint {
  return { atMs, percentUsed: Math.round(percentUsed * 100) / 100, resetsAtMs };
}

/** Points since the beginning of the window, the last one at `untilMs`. */
function points(
  untilMs: number,
  use: (hours: number) => number,
  everyMs = 2 * minuteMs,
): readonly UsePoint[] {
  const times: number[] = [];
  for (let atMs = startMs; atMs < untilMs; atMs += everyMs) times.push(atMs);
  return [...times, untilMs].map((atMs) => point(atMs, use((atMs - startMs) / hourMs)));
}

/** Pseudo-random sequences from 0 to 1, the same in every run (mulberry32). */
function seeds(count: number): readonly (() => number)[] {
  return Array.from({ length: count }, (_, seed) => {
    let state = seed + 1;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  });
}
