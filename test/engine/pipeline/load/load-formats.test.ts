import { expect } from 'chai';
import { problemsOf, formatProblem } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { loadGatewayConfig } from '#src/gateway/load-config.js';
import { loadFormats, type LoadedFormats } from '#src/engine/pipeline/load/load-formats.js';
import { builtinFolder } from '#src/engine/pipeline/load/import/resolve.js';
import { Workshop } from '../workshop.js';

const builtins = ['messages', 'chat', 'responses', 'completions'];

/** A module whose default is a format with these parts. */
function formatText(name: string, routes: readonly object[], more = ''): string {
  return `export default {
    name: ${JSON.stringify(name)}, routes: ${JSON.stringify(routes)}, body: {}, ${more}
    decode: (request) => ({ request, stream: false, dropped: [] }),
    encoder: () => ({ whole: async () => ({}), stream: async function* () {} }),
  };`;
}

const call = (path: string) => ({ method: 'POST', path, operation: 'generate' });

describe('the formats of a config', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
    await workshop.write('mine.js', formatText('mine', [call('/mine')]));
  });
  afterEach(() => workshop.close());

  const text = (formats: string) =>
    `${formats}\npipeline:\n  - use: auth\nslots: [{ id: a, upstream: simulator }]\n`;

  async function load(formats: string): Promise<LoadedFormats> {
    const input = { text: text(formats), file: 'gateway.yaml', env: {}, baseDir: workshop.dir };
    const config = loadConfig(input);
    const where = { baseDir: config.baseDir, builtins: builtinFolder };
    return loadFormats(config.formats, config.pipeline, where);
  }

  const problems = async (formats: string) =>
    (await load(formats)).problems.map((problem) =>
      formatProblem(problem).replaceAll(`${workshop.dir}/`, ''),
    );

  it('are the four that are built in, where it names none', async () => {
    const { formats, problems } = await load('');
    expect([formats.map(({ name }) => name), problems]).to.deep.equal([builtins, []]);
  });

  it('are built in, files or packages, with options or without', async () => {
    await workshop.write(
      'tuned.js',
      formatText(
        'tuned',
        [call('/tuned')],
        'options: { type: "object", properties: { size: { type: "integer", default: 2 } } },',
      ),
    );
    const { formats } = await load('formats: [chat, ./mine.js, { use: ./tuned.js, with: { size: 3 } }]');
    expect(formats.map(({ name, settings }) => [name, settings])).to.deep.equal([
      ['chat', {}],
      ['mine', {}],
      ['tuned', { size: 3 }],
    ]);
    expect(await problems('formats: [{ use: ./tuned.js, with: { sise: 3 } }]')).to.deep.equal([
      'gateway.yaml:1:38 formats[0].with.sise: is not a known key; did you mean "size"?',
    ]);
  });

  it('are named where they stand if they cannot be loaded', async () => {
    await workshop.write('stage.js', 'export default { name: "stage", setup() {} };');
    expect(await problems('formats:\n  - chatt\n  - { use: ./stage.js }')).to.deep.equal([
      'gateway.yaml:2:5 formats[0] "chatt" is neither a built-in nor an installed npm package; did you mean "chat"?',
      'gateway.yaml:3:7 formats[1].use "./stage.js" must export default a format, but its default is an object with name, setup instead of name, routes, decode and encoder',
    ]);
  });

  it('must not share a path, a name, or a path of the gateway', async () => {
    await workshop.write('second.js', formatText('second', [call('{/v1}/mine')]));
    await workshop.write('chat.js', formatText('chat', [call('/other')]));
    await workshop.write('health.js', formatText('health', [{ ...call('/:page'), method: 'GET' }]));
    await workshop.write('admin.js', formatText('admin', [call('/admin/mine')]));
    const list =
      'formats:\n  - chat\n  - ./mine.js\n  - ./second.js\n  - ./chat.js\n  - ./health.js\n  - ./admin.js';
    expect(await problems(list)).to.deep.equal([
      'gateway.yaml:4:5 formats[2] "./second.js" has POST {/v1}/mine, which formats[1] "./mine.js" at line 3 also has; list only one of them',
      'gateway.yaml:5:5 formats[3] "./chat.js" has the same name, "chat", as formats[0] "chat" at line 2; list only one of them',
      'gateway.yaml:6:5 formats[4] "./health.js" has GET /:page, a path of the gateway itself; use another one',
      'gateway.yaml:7:5 formats[5] "./admin.js" has POST /admin/mine, a path of the gateway itself; use another one',
    ]);
  });

  it('must not have a pattern some path of which another has, or the gateway', async () => {
    for (const [path, other, isShared] of [
      ['/:a/b', '/a/:b', true],
      ['/:a/b/:c/d', '/x/*rest', true],
      ['/v1/:model\\\\:make', '/v1/:id', true],
      ['/v1/:model\\\\:make', '/v1/:model\\\\:count', false],
      ['/:a/b', '/:a/c', false],
      ['/a{/:b}', '/:a', true],
      ['/a/:b', '/a', false],
    ] as const) {
      await workshop.write('one.js', formatText('one', [call(path.replaceAll('\\\\', '\\'))]));
      await workshop.write('two.js', formatText('two', [call(other.replaceAll('\\\\', '\\'))]));
      const found = await problems('formats:\n  - ./one.js\n  - ./two.js');
      expect(found, `${path} ${other}`).to.have.length(isShared ? 1 : 0);
    }
    await workshop.write('tenant.js', formatText('tenant', [call('/:tenant/lines')]));
    expect(await problems('formats: [./tenant.js]')).to.deep.equal([]);
    await workshop.write('deep.js', formatText('deep', [call('/:a/:b/:c/:d')]));
    expect((await problems('formats:\n  - ./deep.js')).join()).to.match(
      /POST .* a path of the gateway itself/,
    );
  });

  it('have routes that the router can read', async () => {
    for (const [route, says] of [
      [{ ...call('mine') }, 'has a route that cannot be read: {"method":"POST","path":"mine"}'],
      [{ ...call('/mine/*') }, 'has a route that cannot be read: {"method":"POST","path":"/mine/*"}'],
      [
        { ...call('/mine'), method: 'post' },
        'has a route that cannot be read: {"method":"post","path":"/mine"}',
      ],
      [
        { ...call('/mine'), operation: 'usage' },
        'has /mine for the unknown operation "usage"; known: generate, count-tokens, route',
      ],
      [{ ...call('/mine'), operation: 'route' }, 'has /mine without a handle to answer it'],
    ] as const) {
      const file = `mine-${workshop.logged.push('')}.js`;
      await workshop.write(file, formatText('mine', [route]));
      expect(await problems(`formats: [./${file}]`)).to.deep.equal([
        `gateway.yaml:1:11 formats[0] "./${file}" ${says}`,
      ]);
    }
  });

  it('are all that a condition can name, in a config that is wrong elsewhere too', async () => {
    const wrong = `formats: [chat, ./mine.js]
pipeline:
  - use: auth
    when: { format: [chatt, mine, messages] }
slots: []
`;
    const input = { text: wrong, file: 'gateway.yaml', env: {}, baseDir: workshop.dir };
    const found = await loadGatewayConfig(input).then(() => [], problemsOf);
    expect(found.filter((problem) => problem.includes('when.format'))).to.deep.equal([
      'gateway.yaml:4:22 pipeline[0].when.format[0]: must be one of "chat", "mine", not "chatt"; did you mean "chat"?',
      'gateway.yaml:4:35 pipeline[0].when.format[2]: must be one of "chat", "mine", not "messages"',
    ]);
  });
});
