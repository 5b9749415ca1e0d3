import { expect } from 'chai';
import { format } from '#src/cli/templates/format.js';
import { fill, type Template } from '#src/cli/templates/template.js';
import { upstream } from '#src/cli/templates/upstream.js';
import { stages } from '../../harness.js';
import { ProcessWorkshop } from '../../gateway-process.js';

const linesOf = "stream.trimEnd().split('\\n').map((line) => JSON.parse(line))";

/** Further parts of the subject of a format's suite, whose `fold` returns the text as `text` says. */
const ofFormat = (text: string) => `
export const conformance = {
  body: { model: 'test-model', prompt: 'Hi' },
  fold(stream) {
    const lines = ${linesOf};
    if (!lines.at(-1).done) throw new Error('The stream does not end.');
    return { text: ${text}, done: true };
  },
  errorIn: (stream) => (${linesOf}).at(-1).error ?? '',
};
`;

/** Part of the subject of an upstream's suite: a service whose refusals have these headers. */
const ofUpstream = (headers: object) => `
import { once } from 'node:events';
import { createServer } from 'node:http';

async function pour(response, blocked) {
  response.setMaxListeners(0);
  while (!response.destroyed) {
    if (response.write(line({ text: 'x'.repeat(50_000) }))) continue;
    const wait = setTimeout(blocked, 200);
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
    clearTimeout(wait);
  }
}

const line = (fields) => JSON.stringify(fields) + '\\n';
const scenarios = {
  answer: (response) => response.end(line({ text: 'Hello', done: true, tokens: 2 })),
  refusal: (response) => response.writeHead(429, ${JSON.stringify(headers)}).end(line({ error: 'Slow down.' })),
  cut: (response) => response.write(line({ text: 'Hel' }), () => response.destroy()),
  endless: pour,
};

export const conformance = {
  async play(scenario) {
    const { promise: blocked, resolve: setBlocked } = withResolvers();
    const { promise: closed, resolve: setClosed } = withResolvers();
    const server = createServer((request, response) => {
      request.resume();
      response.once('close', setClosed);
      void scenarios[scenario](response, setBlocked);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    server.unref();
    return { baseUrl: 'http://127.0.0.1:' + server.address().port, blocked, closed };
  },
};

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}
`;

function moduleOf({ plugin }: Template, name: string, conformance = ''): string {
  return fill(plugin, { name, module: '', isTypeScript: false }) + conformance;
}

describe('gw2api plugins --check with the export `conformance`', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  /** Checks of a config with a format and an upstream from outside. */
  async function checksOf(lines: string, words: string) {
    const account = { kind: 'none' };
    const cwd = await workshop.folder({
      'config/gateway.yaml': {
        pipeline: stages(),
        formats: ['messages', { use: './lines.mjs' }],
        slots: [{ id: 'a', upstream: './words.mjs', baseUrl: 'http://127.0.0.1:1', account }],
        store: 'memory',
      },
      'config/lines.mjs': moduleOf(format, 'lines', lines),
      'config/words.mjs': moduleOf(upstream, 'words', words),
    });
    const { stdout, code } = await workshop.run({ cwd, args: ['plugins', '--check'] });
    const [, shown = ''] = stdout.split('\nconformance\n');
    return { shown, code };
  }

  it('runs the suites of formats and upstreams', async () => {
    const { shown, code } = await checksOf(
      ofFormat("lines.map(({ text }) => text).join('')"),
      ofUpstream({ 'retry-after': '7' }),
    );
    expect(shown).to.equal(
      '  ✓ format ./lines.mjs (formats[1]): 1 passed\n  ✓ upstream ./words.mjs (slots[0]): 6 passed\n',
    );
    expect(code).to.equal(0);
  });

  it('names the rule that a format or an upstream breaks, and ends with 1', async () => {
    const { shown, code } = await checksOf(ofFormat("'something else'"), ofUpstream({}));
    expect(shown).to.match(
      /^ {2}✗ format \.\/lines\.mjs \(formats\[1\]\): 0 passed, 1 failed\n {6}keeps the rules of formats: .*whole = fold\(stream\)/,
    );
    expect(shown).to.include(
      '  ✗ upstream ./words.mjs (slots[0]): 5 passed, 1 failed\n      throws a refusal with its status and headers: retry-after is missing\n',
    );
    expect(code).to.equal(1);
  });

  it('leaves them out without it, and says what it needs', async () => {
    const { shown, code } = await checksOf('', '');
    expect(shown).to.match(
      /- format \.\/lines\.mjs \(formats\[1\]\): not checked: .*`conformance` with `body`, `fold` and `errorIn`/,
    );
    expect(shown).to.match(
      /- upstream \.\/words\.mjs \(slots\[0\]\): not checked: .*`conformance` with `play`/,
    );
    expect(code).to.equal(0);
  });
});
