import { expect } from 'chai';
import type { Explanation } from '#src/features/explain/explanation.js';
import { ask, stages } from '../harness.js';
import { ProcessWorkshop } from '../gateway-process.js';

const slots = ['a', 'b'].map((id) => ({ id, upstream: 'simulator' }));

describe('gw2api explain', () => {
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  const files = {
    'gateway.yaml': JSON.stringify({ pipeline: stages(), slots }),
    'hi.json': JSON.stringify(ask('hi')),
    'chat.json': JSON.stringify({
      model: 'sonnet-5',
      messages: [{ role: 'user', content: 'hi' }],
      seed: 7,
      logit_bias: { 5: 1 },
    }),
  };

  async function run(...args: readonly string[]) {
    const cwd = await workshop.folder(files);
    return workshop.run({ cwd, args: ['explain', '--config', 'gateway.yaml', ...args] });
  }

  it('prints stages, slots, what would go out and the answer, without colours where it is no terminal', async () => {
    const cwd = await workshop.folder(files);
    const args = [
      'explain',
      '--config',
      'gateway.yaml',
      '--body',
      'hi.json',
      '--slot',
      'a=429 retry-after=2',
    ];
    const { stdout, code } = await workshop.spawn({ cwd, args });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^POST \/v1\/messages {2}200\n/);
    expect(stdout).to.match(/✓ persona-inject .*\n.*system: .*careful/);
    expect(stdout).to.match(
      /1\. sonnet-5 → a\n.*\n.*\n {2}2\. sonnet-5 → b\n.*a: cooling down; rate_limited until/,
    );
    expect(stdout).to.match(/added by the gateway: \d+ \(estimated: system about \d+/);
    expect(stdout).not.to.include('\u001b');
  });

  it('prints the same as JSON, for other formats, keys and headers too', async () => {
    const args = ['--post', '/v1/chat/completions', '--as', 'red', '--header', 'x-session-id: s1', '--json'];
    const { stdout, code } = await run('--body', 'chat.json', ...args);
    expect(code).to.equal(0);
    const { request, dropped } = JSON.parse(stdout) as Explanation; // as it is documented
    expect(request).to.include({ path: '/v1/chat/completions', format: 'chat', key: 'red' });
    expect(dropped).to.include('logit_bias');
  });

  it('names the pipeline of a request, why it was chosen, and its own stages', async () => {
    const pipelines = [
      {
        name: 'red',
        when: { header: { 'x-team': 'red' } },
        changes: [{ set: 'max-tokens', with: { cap: 5 } }],
      },
    ];
    const cwd = await workshop.folder({
      ...files,
      'gateway.yaml': JSON.stringify({ pipeline: stages(), pipelines, slots }),
    });
    const args = ['explain', '--config', 'gateway.yaml', '--body', 'hi.json', '--json'];
    const inRed = await workshop.run({ cwd, args: [...args, '--header', 'x-team: red'] });
    const red = JSON.parse(inRed.stdout) as Explanation;
    expect(red.pipeline).to.deep.equal({ name: 'red', why: 'when' });
    const names = red.stages.map(({ stage }) => stage);
    expect(names).to.include('red/max-tokens').and.not.include('max-tokens');
    const other = JSON.parse((await workshop.run({ cwd, args })).stdout) as Explanation;
    expect(other.pipeline).to.deep.equal({ name: 'default', why: 'default' });
    const text = await workshop.run({ cwd, args: [...args.slice(0, -1), '--header', 'x-team: red'] });
    expect(text.stdout).to.match(/pipeline red/);
  });

  it('shows a limit of the key that is used up', async () => {
    const limit = ['--key-limit', 'tokensPerDay=100'];
    const { stdout } = await run('--body', 'hi.json', '--as', 'red', ...limit, '--used', 'tokensPerDay=100');
    expect(stdout).to.match(/^POST \/v1\/messages {2}429 rate_limited\n/);
    expect(stdout).to.match(/✗ rate-limit .*\n.*"red" has reached its limit of 100 tokens per day/);
    const under = await run('--body', 'hi.json', ...limit, '--used', 'tokensPerDay=99');
    expect(under.stdout).to.match(/^POST \/v1\/messages {2}200\n/);
  });

  it('names the limits where one is misspelt', async () => {
    const { stderr, code } = await run('--body', 'hi.json', '--used', 'tokensPerday=1');
    expect(code).to.not.equal(0);
    expect(stderr).to.match(
      /^--used takes LIMIT=AMOUNT, not "tokensPerday=1"; did you mean tokensPerDay\.$/m,
    );
    expect((await run('--body', 'hi.json', '--key-limit', 'tokensPerDay=0')).stderr).to.include(
      'whole number above 0',
    );
  });

  it('says what a caller without a key is told', async () => {
    const { stdout } = await run('--body', 'hi.json', '--as', 'none');
    expect(stdout).to.match(/^POST \/v1\/messages {2}401 missing_api_key\n/);
    expect(stdout).to.match(/· upstream-call: not reached/);
  });

  it('refuses what it is not given, and what it cannot read', async () => {
    const cases: readonly [args: readonly string[], words: RegExp][] = [
      [[], /--body FILE/],
      [['--body', 'none.json'], /none\.json cannot be read/],
      [['--body', 'hi.json', '--header', 'none'], /--header takes "name: value"/],
      [['--body', 'hi.json', '--slot', 'c=text'], /slots are a, b/],
    ];
    for (const [args, words] of cases) {
      const { stderr, code } = await run(...args);
      expect(stderr).to.match(words);
      expect(code).to.be.above(0);
    }
  });
});
