import { expect } from 'chai';
import {
  GatewayError,
  lossReport,
  reportDropped,
  reportLosses,
  type MessagesRequest,
} from '@gw2api/gateway/plugin';

const request: MessagesRequest = { model: 'm', messages: [], tools: [{ name: 'look' }] };

function answerWith(): {
  readonly headers: Map<string, string>;
  readonly answer: Parameters<typeof lossReport>[0];
} {
  const headers = new Map<string, string>();
  const answer = {
    get: (name: string) => headers.get(name) ?? '',
    set: (name: string, value: string) => void headers.set(name, value),
    remove: (name: string) => void headers.delete(name),
  };
  return { headers, answer };
}

describe('the report of losses', () => {
  it("names the caller's paths: content first, mends last, each once", () => {
    const { headers, answer } = answerWith();
    const report = lossReport(answer);
    const pathOf = (path: string): string => (path === 'stop_sequences' ? 'stop' : path);
    report.decoded({ request, pathOf, unsupported: 'report' });
    reportDropped(answer, ['seed']);
    reportLosses(answer, request, [{ path: 'tools[0].input_schema', kind: 'mend' }]);
    report.addCall(
      [
        { path: 'stop_sequences', kind: 'setting' },
        { path: 'seed', kind: 'setting' },
        { path: 'messages[0]', kind: 'content' },
      ],
      { ...request, messages: [{ role: 'user', content: 'x' }] },
    );
    expect(headers.get('x-gw-dropped')).to.equal('seed, stop, tools[0].input_schema');
  });

  it('shows the losses of the last call alone', () => {
    const { headers, answer } = answerWith();
    const report = lossReport(answer);
    report.addCall([{ path: 'top_k', kind: 'setting' }], request);
    expect(headers.get('x-gw-dropped')).to.equal('top_k');
    report.beginCall();
    expect(headers.has('x-gw-dropped')).to.equal(false);
  });

  it('refuses losses where they are to be rejected, but no mends', () => {
    const { headers, answer } = answerWith();
    const report = lossReport(answer);
    report.decoded({ request, unsupported: 'reject' });
    report.addCall([{ path: 'tools[0].input_schema', kind: 'mend' }], request);
    expect(headers.get('x-gw-dropped')).to.equal('tools[0].input_schema');
    expect(() => report.addCall([{ path: 'top_k', kind: 'setting' }], request))
      .to.throw(GatewayError, /^top_k: cannot be expressed upstream/)
      .with.property('code', 'invalid_request');
  });

  it('has one item for a path with a comma', () => {
    const { headers, answer } = answerWith();
    reportDropped(answer, ['a,b']);
    expect(headers.get('x-gw-dropped')).to.equal('a?b');
  });

  it('names an extra as the caller knows it: by its own name, by that of the format, by its message', () => {
    const { headers, answer } = answerWith();
    const report = lossReport(answer);
    const pathOf = (path: string) =>
      ({ 'extras.verbosity': 'text.verbosity', 'messages[0].content[1]': 'messages[2].content' })[path] ??
      path;
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ] as const;
    report.decoded({ request: { model: 'm', messages }, pathOf, unsupported: 'report' });
    report.addCall(
      ['extras.seed', 'extras.verbosity', 'messages[0].content[1].extras.name', 'extras.a\r\nü'],
      { model: 'm', messages },
    );
    expect(headers.get('x-gw-dropped')).to.equal('seed, text.verbosity, messages[2].name, a???');
  });
});
