import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Logger } from '#src/plugin/index.js';
import { createLogger, isoTime, logAccess } from '#src/gateway/telemetry/logs.js';

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

describe('the line of a request', () => {
  /** Lines that a logger of this level writes, without their times. */
  function linesOf(level: string, log: (logger: Logger) => void): readonly string[] {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line.replace(/"time":"[^"]*"/, ''));
    log(createLogger(level, { write }));
    return lines;
  }

  const plain = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.double(),
    fc.integer(),
    fc.constant(undefined),
    fc.array(fc.record({ slot: fc.string(), ms: fc.integer() }), { maxLength: 2 }),
  );
  const fields = fc
    .dictionary(fc.stringMatching(/^[a-z]\w{0,9}$/), plain)
    .map((rest) => ({ id: 'a', ...rest }));

  it('is the one that the logger itself would write', () => {
    fc.assert(
      fc.property(fields, (line) => {
        const written = linesOf('info', (log) => logAccess(log, 'info', line));
        expect(written).to.deep.equal(linesOf('info', (log) => log.info(line, 'request')));
      }),
    );
  });

  it('is left out below the level of the logger', () => {
    const both = (log: Logger) => {
      logAccess(log, 'debug', { id: 'a' });
      logAccess(log, 'info', { id: 'b' });
    };
    expect(linesOf('debug', both)).to.have.length(2);
    expect(linesOf('info', both)).to.have.length(1);
    expect(linesOf('silent', both)).to.have.length(0);
  });

  it('has the fields of the child that writes it', () => {
    const [line] = linesOf('info', (log) => logAccess(log.child({ of: 'child' }), 'info', { id: 'a' }));
    expect(JSON.parse(line?.replace(',,', ',') ?? '')).to.include({ of: 'child', id: 'a' });
  });
});
