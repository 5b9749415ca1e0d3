import { expect } from 'chai';
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
      'gateway.yaml:3:5 pipeline[1] "hangs" has not been set up within 2 s: its setup waits for something that does not come',
    ]);
    expect(workshop.logged).to.deep.equal(['info: disposed {"stage":"good"}']);
  });

  it('at the top level of its module is a problem beside the others', async () => {
    await workshop.write('hangs.js', `await ${never};\n${moduleText({ name: 'hangs' })}`);
    const text = list('./hangs.js', ...whole.map((name) => (name === 'body-limit' ? 'body-limt' : name)));
    expect(await workshop.problems(text, options)).to.deep.equal([
      'gateway.yaml:2:5 pipeline[0].use "./hangs.js" has not loaded within 2 s: an await at the top level of its module does not end',
      'gateway.yaml:4:5 pipeline[2].use "body-limt" is neither a built-in nor an installed npm package; did you mean "body-limit"?',
    ]);
  });

  it('in onDispose is told of, and keeps no other from its end', async () => {
    const tell = `host.onDispose(() => host.log.info({}, 'disposed'));`;
    await workshop.write('good.js', moduleText({ name: 'good' }, tell));
    await workshop.write('hangs.js', moduleText({ name: 'hangs' }, `host.onDispose(() => ${never});`));
    const pipeline = await workshop.build(list('./good.js', './hangs.js', ...whole), {}, options);
    const says = '"hangs" has not been disposed within 2 s: what it gave to onDispose does not end';
    const problems = await pipeline.retire();
    expect(problems).to.have.length(1);
    expect(problems[0]).to.deep.include({ path: 'pipeline[1]', subject: 'hangs' });
    expect(problems[0]!.at).to.include({ file: 'gateway.yaml', line: 3, column: 5 });
    expect(workshop.logged).to.have.length(2);
    expect(JSON.parse(workshop.logged[0]!.slice(workshop.logged[0]!.indexOf('{')))).to.deep.equal({
      stage: 'hangs',
      problem: `gateway.yaml:3:5 pipeline[1] ${says}`,
    });
    expect(workshop.logged[1]).to.equal('info: disposed {"stage":"good"}');
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
