import { expect } from 'chai';
import { prettyLine } from '#src/gateway/telemetry/pretty-line.js';

const time = '2026-03-04T12:34:56.789Z';

function pretty(line: object): string {
  return prettyLine(`${JSON.stringify({ level: 'info', time, ...line })}\n`, false);
}

describe('a log line for people', () => {
  it('begins with the time, the level and the message, and ends with the fields', () => {
    const line = pretty({ level: 'warn', slot: 'team-a', ms: 2000, msg: 'The slot is in cooldown.' });
    expect(line).to.equal('12:34:56.789 WARN  The slot is in cooldown. slot=team-a ms=2000\n');
  });

  it('tells a request in words', () => {
    const request = { method: 'POST', path: '/v1/messages', status: 200, ms: 1204, outcome: 'completed' };
    const rest = { model: 'sonnet-5', slot: 'a', tokens: { input: 20, cache_read: 5, output: 8 }, id: 'r1' };
    expect(pretty({ ...request, ...rest, msg: 'request' })).to.equal(
      '12:34:56.789 INFO  POST /v1/messages 200 in 1204 ms · sonnet-5 · slot a · 25+8 tokens id=r1\n',
    );
  });

  it('shows the stack of an error and of its cause below it', () => {
    const err = { stack: 'Error: one\n    at a.js:1', cause: { stack: 'Error: two' } };
    expect(pretty({ err, msg: 'It failed.' }).split('\n').slice(1)).to.deep.equal([
      '    Error: one',
      '        at a.js:1',
      '    Error: two',
      '',
    ]);
  });

  it('keeps control characters of callers from the terminal', () => {
    const line = pretty({
      method: 'GET',
      path: '/\u001B[2Jx',
      status: 404,
      ms: 1,
      code: '\u001B]0;',
      msg: 'request',
    });
    expect(line.trimEnd()).not.to.match(/\p{Cc}/u);
  });

  it('keeps bidi marks of callers from the terminal', () => {
    const text = pretty({ msg: 'request', model: 'a\u202eb\u2066', path: '/\u200f' });
    expect(text).not.to.match(/[\p{Cf}]/u);
    expect(text).to.include('a\\u{202e}b');
  });

  it('has colors only where they are wanted', () => {
    const json = JSON.stringify({ level: 'error', time, msg: 'No.' });
    expect(prettyLine(json, true)).to.include('\u001B[31m');
    expect(prettyLine(json, false)).not.to.include('\u001B');
  });

  it('leaves alone what is no line of the log', () => {
    for (const text of ['', 'no JSON\n', '[1]\n', '7\n', '{"cut'])
      expect(prettyLine(text, false)).to.equal(text);
  });
});
