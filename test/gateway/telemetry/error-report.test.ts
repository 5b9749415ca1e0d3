import { expect } from 'chai';
import { createLogger } from '#src/gateway/telemetry/logs.js';

interface Report {
  readonly message?: string;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

describe('an error in the log', () => {
  /** `err` of the line of an error, and the line's length. */
  function logged(error: unknown): { readonly err: Report; readonly length: number } {
    const lines: string[] = [];
    createLogger('error', { write: (line) => void lines.push(line) }).error({ err: error }, 'Failed.');
    const [line = ''] = lines;
    return { err: (JSON.parse(line) as { readonly err: Report }).err, length: line.length };
  }

  it('has its causes and the errors that it joins', () => {
    const joined = new AggregateError([new Error('a'), 'b'], 'both', { cause: new Error('c') });
    const { err } = logged(joined);
    expect(err).to.include({ message: 'both' });
    expect(err.cause).to.include({ message: 'c' });
    expect(err.errors?.[0]).to.include({ message: 'a' });
    expect(err.errors?.[1]).to.equal('b');
  });

  it('is written though its list of errors cannot be read', () => {
    const revoked = Proxy.revocable<unknown[]>([], {});
    revoked.revoke();
    class Slices extends Array<unknown> {
      override slice(): never {
        return undefined as never;
      }
    }
    const throwing = new Proxy([1], {
      get() {
        throw new Error('no');
      },
    });
    for (const errors of [revoked.proxy, new Slices(new Error('a'), new Error('b')), throwing])
      expect(logged(Object.assign(new Error('whole'), { errors })).err).to.include({ message: 'whole' });
  });

  it('is written once where it is its own cause or one of its errors', () => {
    const own = new AggregateError([], 'own');
    own.errors = Array.from({ length: 20 }, () => own);
    own.cause = own;
    const { err, length } = logged(own);
    expect(err.cause).to.equal('[repeated]');
    expect(err.errors).to.deep.equal(Array.from({ length: 20 }, () => '[repeated]'));
    expect(length).to.be.below(10_000);
  });

  it('has 50 errors at most', () => {
    const wide = (depth: number): Error =>
      depth === 0 ? new Error('leaf') : new AggregateError(Array.from({ length: 8 }, () => wide(depth - 1)));
    const { err } = logged(wide(4));
    const text = JSON.stringify(err);
    expect(text.match(/"stack":/g)).to.have.length(50);
    expect(text).to.include('"[omitted]"');
  });
});
