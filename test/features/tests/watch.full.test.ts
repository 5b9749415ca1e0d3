import { expect } from 'chai';
import { ProcessWorkshop } from '../../whole/gateway-process.js';
import { writeIn } from '../../whole/temp-folders.js';
import { config, testsOf } from './command-kit.js';

describe('gw2api test --watch', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  it('runs again where files of other folders change that it depends on', async () => {
    const cwd = await workshop.folder({
      'config/gateway.yaml': `${config.replace('pipeline:', 'pipeline:\n  - use: ../plugins/mine.mjs')}models: ../catalog/models.yaml\n`,
      'plugins/mine.mjs': `export { default } from './lib/real.mjs';`,
      'plugins/lib/real.mjs': `export default { name: 'mine', setup: () => (ctx, next) => next() };`,
      'catalog/models.yaml': 'models: [{ id: sonnet-5, maxTokens: 100 }]',
      'fixtures/request.json':
        '{ "model": "sonnet-5", "max_tokens": 50, "messages": [{ "role": "user", "content": "Hi" }] }',
      'config/a.test.yaml':
        'tests: [{ name: one, requests: [{ post: /v1/messages, bodyFile: ../fixtures/request.json, expect: { status: 200, upstream.max_tokens: 50 } }] }]',
    });
    const watcher = await workshop.start({ cwd, args: ['test', '--watch'] });
    await watcher.output('1 passed in');
    await watcher.output('Waiting for a change', 1);
    await writeIn(cwd, 'fixtures/request.json', '{ "model": "sonnet-5"');
    await watcher.output('Waiting for a change', 2);
    await writeIn(cwd, 'fixtures/request.json', '{ "model": "sonnet-5", "max_tokens": 50, "messages": [] }');
    await watcher.output('0 passed, 1 failed');
    await watcher.output('Waiting for a change', 3);
    await writeIn(cwd, 'catalog/models.yaml', 'models: [');
    await watcher.output('Waiting for a change', 4);
    await writeIn(cwd, 'catalog/models.yaml', 'models: [{ id: sonnet-5, maxTokens: 100 }]');
    await watcher.output('0 passed, 1 failed', 2);
    await watcher.output('Waiting for a change', 5);
    await writeIn(
      cwd,
      'plugins/lib/real.mjs',
      `export default { name: 'mine', setup: () => (ctx) => ctx.throw(418) };`,
    );
    await watcher.output('0 passed, 1 failed', 3);
    watcher.signal('SIGINT');
    expect(await watcher.ended).to.include({ code: 0 });
  });

  it('runs again where a test, a file or a plugin of a pipeline changes', async () => {
    const red = (cap: number) =>
      `{ name: red, changes: [{ after: persona-inject, add: [{ use: ./mine.mjs }, { use: max-tokens, with: { cap: ${cap} } }] }], tests: [./tests/red.test.yaml] }`;
    const cwd = await workshop.folder({
      'config/gateway.yaml': `${config}pipelines: [../teams/red.yaml]\n`,
      'teams/red.yaml': red(20),
      'teams/mine.mjs': `export default { name: 'mine', setup: () => (ctx, next) => next() };`,
      'teams/tests/red.test.yaml': testsOf('as: { key: a }, expect: { upstream.max_tokens: 20 }').replace(
        '{ name: test 0',
        '{ keys: { a: { pipeline: red } }, name: test 0',
      ),
    });
    const watcher = await workshop.start({ cwd, args: ['test', '--watch'] });
    await watcher.output('1 passed in');
    await watcher.output('Waiting for a change', 1);
    await writeIn(cwd, 'teams/red.yaml', red(10));
    await watcher.output('0 passed, 1 failed', 1);
    await watcher.output('Waiting for a change', 2);
    await writeIn(
      cwd,
      'teams/tests/red.test.yaml',
      testsOf('as: { key: a }, expect: { upstream.max_tokens: 10 }').replace(
        '{ name: test 0',
        '{ keys: { a: { pipeline: red } }, name: test 0',
      ),
    );
    await watcher.output('1 passed in', 2);
    await watcher.output('Waiting for a change', 3);
    await writeIn(
      cwd,
      'teams/mine.mjs',
      `export default { name: 'mine', setup: () => (ctx) => ctx.throw(418) };`,
    );
    await watcher.output('0 passed, 1 failed', 2);
    watcher.signal('SIGINT');
    expect(await watcher.ended).to.include({ code: 0 });
  });

  it('runs again where a test or a plugin changes, until a signal', async () => {
    const cwd = await workshop.folder({
      'config/gateway.yaml': config.replace('pipeline:', 'pipeline:\n  - use: ./plugins/mine.mjs'),
      'config/plugins/mine.mjs': `export default { name: 'mine', setup: () => (ctx, next) => next() };`,
      'config/a.test.yaml': testsOf('expect: { status: 201 }'),
    });
    const watcher = await workshop.start({ cwd, args: ['test', '--watch'] });
    await watcher.output('0 passed, 1 failed');
    await watcher.output('Waiting for a change');
    await writeIn(cwd, 'config/a.test.yaml', testsOf('expect: { status: 200 }'));
    await watcher.output('1 passed in');
    await watcher.output('Waiting for a change', 2);
    await writeIn(
      cwd,
      'config/plugins/mine.mjs',
      `export default { name: 'mine', setup: () => (ctx) => ctx.throw(418) };`,
    );
    await watcher.output('0 passed, 1 failed', 2);
    watcher.signal('SIGINT');
    expect(await watcher.ended).to.deep.include({ code: 0, stderr: '' });
  });
});
