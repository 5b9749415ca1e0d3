import { expect } from 'chai';
import { livedMs } from '../../lived-ms.js';
import { Workshop, list, moduleText, whole } from './workshop.js';

const never = 'new Promise(() => undefined)';

describe('a plugin that hangs', () => {
  let workshop: Workshop;
  beforeEach(async () => {
    workshop = await Workshop.open();
    await workshop.write('package.json', '{"type":"module"}');
  });
  afterEach(() => workshop.close());

  const options = { timeoutMs: 2000 };

  it('in its setup is a problem that names it and its line, and what was set up before it is undone', async () => {
    const tell = `host.onDispose(() => host.log.info({}, 'disposed'));`;
    await workshop.write('good.js', moduleText({ name: 'good' }, tell));
    await workshop.write('hangs.js', `export default { name: 'hangs', setup: () => ${never} };`);
    const text = list('./good.js', './hangs.js', ...whole);
    expect(await workshop.problems(text, options)).to.deep.equal([
      'gateway.yaml:3:5 pipeline[1] "hangs" was not set up within 2 s: its setup waits for something that never happens',
    ]);
    expect(workshop.logged).to.deep.equal(['info: disposed {"stage":"good"}']);
  });

  it('at the top level of its module is a problem beside the others', async () => {
    await workshop.write('hangs.js', `await ${never};\n${moduleText({ name: 'hangs' })}`);
    const text = list('./hangs.js', ...whole.map((name) => (name === 'body-limit' ? 'body-limt' : name)));
    expect(await workshop.problems(text, options)).to.deep.equal([
      'gateway.yaml:2:5 pipeline[0].use "./hangs.js" did not load within 2 s: a top-level await of its module does not settle',
      'gateway.yaml:4:5 pipeline[2].use "body-limt" is neither a built-in nor an installed npm package; did you mean "body-limit"?',
    ]);
  });

  it('in onDispose is told of, and keeps no other from its end', async () => {
    const tell = `host.onDispose(() => host.log.info({}, 'disposed'));`;
    await workshop.write('good.js', moduleText({ name: 'good' }, tell));
    await workshop.write('hangs.js', moduleText({ name: 'hangs' }, `host.onDispose(() => ${never});`));
    const pipeline = await workshop.build(list('./good.js', './hangs.js', ...whole), {}, options);
    const says = '"hangs" was not disposed within 2 s: a callback passed to onDispose does not settle';
    const problems = await pipeline.retire();
    expect(problems).to.have.length(1);
    expect(problems[0]).to.deep.include({ path: 'pipeline[1]', subject: 'hangs' });
    expect(problems[0]!.at).to.include({ file: 'gateway.yaml', line: 3, column: 5 });
    const [first, second, ...others] = workshop.logged;
    expect(others).to.deep.equal([]);
    expect(JSON.parse(second!.slice(second!.indexOf('{')))).to.deep.equal({
      stage: 'hangs',
      problem: `gateway.yaml:3:5 pipeline[1] ${says}`,
    });
    expect(first).to.equal('info: disposed {"stage":"good"}');
  });

  it('in dispose costs the time of one, and leaves its own to one that takes some', async () => {
    const slow = `host.onDispose(() => new Promise((resolve) => setTimeout(resolve, 60)));`;
    await workshop.write('slow.js', moduleText({ name: 'slow' }, slow));
    const hangs = ['a', 'b', 'c', 'd'];
    for (const name of hangs)
      await workshop.write(`${name}.js`, moduleText({ name }, `host.onDispose(() => ${never});`));
    const text = list('./slow.js', ...hangs.map((name) => `./${name}.js`), ...whole);
    const pipeline = await workshop.build(text, {}, { timeoutMs: 600 });
    let subjects: readonly (string | undefined)[] = [];
    const tookMs = await livedMs(async () => {
      subjects = (await pipeline.retire()).map(({ subject }) => subject);
    });
    expect(subjects).to.deep.equal(hangs.toReversed());
    expect(tookMs).to.be.below(600 + 150); // each grace of 50 ms would have come after the other
  });

  it('and goes on after it was given up has what it opens disposed at once', async () => {
    const late = `export default { name: 'late', async setup(options, host) {
      await new Promise((resolve) => { globalThis.goOn = resolve; });
      host.onDispose(() => globalThis.disposed());
      return (ctx, next) => next();
    } };`;
    await workshop.write('late.js', late);
    expect(await workshop.problems(list('./late.js', ...whole), options)).to.have.length(1);
    const shared = globalThis as { goOn?: () => void; disposed?: () => void };
    const disposed = new Promise<void>((resolve) => (shared.disposed = resolve));
    shared.goOn?.();
    await disposed;
    delete shared.goOn;
    delete shared.disposed;
  });
});
