import { expect } from 'chai';
import { ask, stages, startGateway, slotAt, type GatewayUnderTest } from '../../harness.js';
import { scripted, type Parts, type ScriptedUpstream } from '../../scripted-upstream.js';
import { TempFolders } from '../../temp-folders.js';

describe('a stage that holds answers', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest | undefined;
  let upstream: ScriptedUpstream | undefined;
  afterEach(async () => {
    await under?.close();
    await upstream?.close();
    [under, upstream] = [undefined, undefined];
    await folders.remove();
  });

  /** A gateway over an upstream with these answers, one after another, below a stage with this interceptor. */
  async function start(code: string, answers: readonly ((parts: Parts) => string)[]) {
    const folder = await folders.make({ 'holding.mjs': code });
    let calls = 0;
    upstream = await scripted((request, response, parts) => {
      if (!request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(answers[Math.min(calls, answers.length - 1)]!(parts));
      calls += 1;
    });
    const without = ['usage-mask', 'web-search-tool'];
    const pipeline = [...stages({ without })];
    pipeline.splice(3, 0, { use: `${folder}/holding.mjs` });
    under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] });
    const gateway = under;
    return { ask: () => gateway.post('/v1/messages', ask('Hi', { stream: true })), calls: () => calls };
  }

  it('asks again where it does not like one, and lets the other out byte for byte', async () => {
    const whole = ({ start: begin, text, end, stop }: Parts) => begin + text('Hello.') + end + stop;
    const empty = ({ start: begin, end, stop }: Parts) => begin + end + stop;
    const gateway = await start(holding, [empty, whole]);
    const answer = await gateway.ask();
    expect(answer.headers.get('x-gw-attempts')).to.equal('2');
    const held = await answer.text();
    expect(gateway.calls()).to.equal(2);
    await under!.close();
    await upstream!.close();
    const plain = await start('export default () => (ctx, next) => next();', [whole]);
    expect(held).to.equal(await (await plain.ask()).text());
  });

  it('streams the rest of an answer that is larger than it may hold', async () => {
    const long = ({ start: begin, text, end, stop }: Parts) =>
      begin + text('x'.repeat(100_000)) + text('last') + end + stop;
    const gateway = await start(holding.replace('1mb', '64kb'), [long]);
    const body = await (await gateway.ask()).text();
    expect(gateway.calls()).to.equal(1);
    expect(body).to.include('last').and.include('message_stop');
  });

  it('passes on an answer that breaks off, with its one error event', async () => {
    const half = ({ start: begin, text }: Parts) => begin + text('Hello.');
    const gateway = await start(holding, [half]);
    const body = await (await gateway.ask()).text();
    expect(body.match(/^event: error$/gm)).to.have.length(1);
    expect(body).to.include('Hello.').and.not.include('message_stop');
  });
});

const holding = `
  import { definePlugin, hold } from '@gw2api/gateway/plugin';
  export default definePlugin({
    name: 'holding',
    intercepts: true,
    setup: () => ({
      async intercept(request, call) {
        const { message, reply } = await hold(await call(request), { max: '1mb' });
        return message?.content.length === 0 ? call(request) : reply;
      },
    }),
  });`;
