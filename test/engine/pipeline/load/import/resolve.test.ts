import { expect } from 'chai';
import type { Pipeline } from '#src/engine/pipeline/run/pipeline.js';
import { RequestTrace } from '#src/engine/trace/request-trace.js';
import { formerPackageName, packageName } from '#src/kit/version.js';
import { Workshop, list, moduleText, whole } from '../../workshop.js';

// Not a fast test: a syntax error is looked for in a thread.

/** `use` as the first stage of a pipeline that works otherwise; line 2. */
const first = (use: string) => list(use, ...whole);

describe('resolving a plugin', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  describe('by path', () => {
    it('starts at the config file', async () => {
      await workshop.write('my-plugins/mine.js', moduleText({ name: 'mine' }));
      expect(await trail(await workshop.build(first('./my-plugins/mine.js')))).to.include('mine');
    });

    it('takes an edited file', async () => {
      await workshop.write('mine.js', moduleText({ name: 'before' }));
      expect(await trail(await workshop.build(first('./mine.js')))).to.include('before');
      await workshop.write('mine.js', moduleText({ name: 'after' }));
      expect(await trail(await workshop.build(first('./mine.js'))))
        .to.include('after')
        .and.not.include('before');
    });

    it('takes an edited CommonJS file', async () => {
      await workshop.write('mine.cjs', commonJs('before'));
      await workshop.build(first('./mine.cjs'));
      await workshop.write('mine.cjs', commonJs('after'));
      expect(await trail(await workshop.build(first('./mine.cjs')))).to.include('after');
    });

    it('lets a file import @gw2api/gateway/plugin and TypeBox wherever it lies', async () => {
      await workshop.write(
        'mine.js',
        `import { Type } from 'typebox';
         import { GatewayError, definePlugin } from '@gw2api/gateway/plugin';
         export default definePlugin({
           name: 'typed',
           options: Type.Object({ word: Type.String({ default: 'hello' }) }),
           setup: ({ word }) => async (ctx, next) => {
             ctx.state.trail.push(word, new GatewayError('internal', 'x').status);
             await next();
           },
         });`,
      );
      expect(await trail(await workshop.build(first('./mine.js')))).to.include.members(['hello', 500]);
    });

    for (const own of [packageName, formerPackageName])
      it(`lets it import and require ${own}`, async () => {
        const stage = (load: string) => `${load}
          new GatewayError('internal', 'x');
          const stage = () => async (ctx, next) => { ctx.state.trail.push(GatewayError.name); await next(); };`;
        await workshop.write(
          'mine.js',
          `${stage(`import { GatewayError } from '${own}/plugin';`)} export default stage;`,
        );
        await workshop.write(
          'mine.cjs',
          `${stage(`const { GatewayError } = require('${own}/plugin');`)} module.exports = stage;`,
        );
        expect(await trail(await workshop.build(first('./mine.js')))).to.include('GatewayError');
        expect(await trail(await workshop.build(first('./mine.cjs')))).to.include('GatewayError');
      });

    it('takes the TypeBox of the file where it has one', async () => {
      await workshop.write('node_modules/typebox/package.json', '{"type":"module","main":"index.js"}');
      await workshop.write('node_modules/typebox/index.js', 'export const Type = "own";');
      await workshop.write(
        'mine.js',
        `import { Type } from 'typebox';
         export default () => async (ctx, next) => { ctx.state.trail.push(Type); await next(); };`,
      );
      expect(await trail(await workshop.build(first('./mine.js')))).to.include('own');
    });
  });

  describe('of npm', () => {
    it('finds what the config’s folder has installed, be it for import alone', async () => {
      await workshop.write(
        'node_modules/@team/stage/package.json',
        '{"name":"@team/stage","type":"module","exports":{"import":"./main.js"}}',
      );
      await workshop.write('node_modules/@team/stage/main.js', moduleText({ name: 'of-npm' }));
      expect(await trail(await workshop.build(first("'@team/stage'")))).to.include('of-npm');
    });

    it('finds what gw2api has installed', async () => {
      const pipeline = await workshop.build(first("'@koa/cors'\n    with: { origin: 'https://a.example' }"));
      expect(pipeline.stages[0]).to.deep.include({
        name: '@koa/cors',
        operations: ['generate', 'count-tokens', 'models', 'usage', 'route', 'other'],
      });
    });

    it('tells a package that is not there from one that lacks something', async () => {
      await workshop.write('node_modules/broken/package.json', '{"type":"module","main":"index.js"}');
      await workshop.write('node_modules/broken/index.js', 'import "gone-missing";');
      const [absent] = await workshop.problems(first('some-plugin'));
      expect(absent).to.equal(
        'gateway.yaml:2:5 pipeline[0].use "some-plugin" is neither a built-in nor an installed npm package; install it, or write "./some-plugin.js" for a file',
      );
      const [lacking] = await workshop.problems(first('broken'));
      expect(lacking).to.match(
        /^gateway.yaml:2:5 pipeline\[0\].use "broken" cannot be loaded: Cannot find package 'gone-missing'/,
      );
    });
  });

  describe('as a function', () => {
    it('calls it with the options', async () => {
      await workshop.write(
        'tag.js',
        `export default ({ word }) => async function tag(ctx, next) { ctx.state.trail.push(word); await next(); };`,
      );
      expect(await trail(await workshop.build(first('./tag.js\n    with: { word: hi }')))).to.include('hi');
    });

    it('waits for one that is asynchronous, and passes all kinds of requests', async () => {
      await workshop.write(
        'tag.js',
        `export default async () => async (ctx, next) => { ctx.state.trail.push('tagged'); await next(); };`,
      );
      const pipeline = await workshop.build(first('./tag.js'));
      expect(await trail(pipeline, 'other')).to.deep.equal(['tagged']);
      expect(await trail(pipeline, 'models')).to.deep.equal(['tagged', 'auth']);
    });

    it('takes the default within the default of compiled CommonJS', async () => {
      await workshop.write(
        'tag.cjs',
        `exports.__esModule = true; exports.default = () => async (ctx, next) => { ctx.state.trail.push('wrapped'); await next(); };`,
      );
      expect(await trail(await workshop.build(first('./tag.cjs')))).to.include('wrapped');
    });
  });

  const refusals: readonly { what: string; use: string; text?: string; says: string }[] = [
    {
      what: 'a mistyped built-in',
      use: 'max-token',
      says: 'gateway.yaml:2:5 pipeline[0].use "max-token" is neither a built-in nor an installed npm package; did you mean "max-tokens"?',
    },
    {
      what: 'a file that is not there',
      use: './redact.js',
      says: 'gateway.yaml:2:5 pipeline[0].use "./redact.js" is not there; paths are relative to the folder of the config file',
    },
    {
      what: 'a file without its ending',
      use: './mine',
      text: '',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine" is not there; did you mean "mine.js"?',
    },
    {
      what: 'a middleware in place of its factory',
      use: './mine.js',
      text: 'export default async (ctx, next) => { await next(); };',
      says: 'gateway.yaml:2:5 pipeline[0] "./mine.js" cannot be set up: next is not a function; the default export is called with its options and must return the middleware: export default () => async (ctx, next) => …',
    },
    {
      what: 'a middleware that asks for no next',
      use: './mine.js',
      text: 'export default async (ctx) => { ctx.body = "x"; };',
      says: 'gateway.yaml:2:5 pipeline[0] "./mine.js" cannot be set up: the default export is called with its options and must return the middleware: export default () => async (ctx, next) => …',
    },
    {
      what: 'a module without a default',
      use: './mine.js',
      text: 'export const plugin = 1, other = 2;',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" must export default a plugin, or a function that returns a Koa middleware, but it has no default, only other, plugin',
    },
    {
      what: 'a module without anything',
      use: './mine.js',
      text: '',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" must export default a plugin, or a function that returns a Koa middleware, but it exports nothing',
    },
    {
      what: 'a default that is no plugin',
      use: './mine.js',
      text: 'export default 42;',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" must export default a plugin, or a function that returns a Koa middleware, but its default is 42',
    },
    {
      what: 'an object without setup',
      use: './mine.js',
      text: 'export default { name: "x", options: {} };',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" must export default a plugin, or a function that returns a Koa middleware, but its default is an object with name, options instead of name and setup',
    },
    {
      what: 'keys that are no list',
      use: './mine.js',
      text: 'export default { name: "x", requires: "body", setup() {} };',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" has requires that are not a list of names',
    },
    {
      what: 'an operation that there is not',
      use: './mine.js',
      text: 'export default { name: "x", operations: ["generat"], setup() {} };',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" has the unknown operation "generat"; known: generate, count-tokens, models, usage, route, other',
    },
    {
      what: 'options that are no schema',
      use: './mine.js',
      text: 'export default { name: "x", options: { type: "strng" }, setup() {} };',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" has options that are not a JSON Schema: type must be JSONType or JSONType[]: strng',
    },
    {
      what: 'a syntax error',
      use: './mine.js',
      text: 'export default {,};',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" cannot be loaded: Unexpected token \',\' (mine.js:1)',
    },
    {
      what: 'a module that throws',
      use: './mine.js',
      text: 'throw new Error("no luck\\nat all");',
      says: 'gateway.yaml:2:5 pipeline[0].use "./mine.js" cannot be loaded: no luck (mine.js:1:7)',
    },
    {
      what: 'a factory that makes no middleware',
      use: './mine.js',
      text: 'export default () => 5;',
      says: 'gateway.yaml:2:5 pipeline[0] "./mine.js" cannot be set up: returned 5; its setup must return a middleware, or an object of middleware, intercept, outermost, applies, start, probe, dispose',
    },
    {
      what: 'a setup that throws',
      use: './mine.js',
      text: 'export default { name: "mine", setup() { throw new Error("no such region"); } };',
      says: 'gateway.yaml:2:5 pipeline[0] "mine" cannot be set up: no such region',
    },
    {
      what: 'a policy that there is not',
      use: './mine.js',
      text: 'export default { name: "mine", setup(options, host) { host.policies.get("best"); } };',
      says: 'gateway.yaml:2:5 pipeline[0] "mine" cannot be set up: unknown policy "best"; known policies: first',
    },
  ];
  for (const { what, use, text, says } of refusals)
    it(`refuses ${what} and says what to do`, async () => {
      if (text === undefined) await workshop.write('mine.ts', 'export default {};');
      else await workshop.write('mine.js', text);
      expect(await workshop.problems(first(use))).to.deep.equal([says]);
    });

  it('checks options at their place, and fills in their defaults', async () => {
    const schema = {
      type: 'object',
      properties: {
        cap: { type: 'integer', default: 7 },
        deep: { type: 'object', properties: { on: { type: 'boolean' } } },
      },
    };
    await workshop.write('mine.js', moduleText({ name: 'mine', options: schema }));
    const pipeline = await workshop.build(first('./mine.js'));
    expect(pipeline.stages[0]!.options).to.deep.equal({ cap: 7 });
    const wrong = './mine.js\n    with:\n      cap: "9"\n      deep: { on: 1, of: 2 }\n      cpa: 1';
    expect(await workshop.problems(first(wrong))).to.deep.equal([
      'gateway.yaml:4:7 pipeline[0].with.cap: must be a whole number, not a string; write it without quotes',
      'gateway.yaml:5:15 pipeline[0].with.deep.on: must be true or false, not a number',
      'gateway.yaml:5:22 pipeline[0].with.deep.of: is not a known key; did you mean "on"?',
      'gateway.yaml:6:7 pipeline[0].with.cpa: is not a known key; did you mean "cap"?',
    ]);
  });
});

/** The names of the stages that one request passes. */
async function trail(
  pipeline: Pipeline,
  operation: 'generate' | 'models' | 'other' = 'generate',
): Promise<unknown[]> {
  const trace = new RequestTrace(Date.now);
  const ctx = { state: { trail: [] as unknown[], operation, format: 'messages', trace } };
  const middleware = pipeline.middlewareFor(operation);
  await middleware(ctx as unknown as Parameters<typeof middleware>[0], async () => undefined);
  return ctx.state.trail;
}

function commonJs(name: string): string {
  return moduleText({ name }).replace('export default', 'module.exports =');
}
