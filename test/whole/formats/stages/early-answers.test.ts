import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { errorIn } from '../../kit.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';
import { TempFolders } from '../../temp-folders.js';

describe('an interceptor', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest | undefined;
  const upstreams: (HeldUpstream | ScriptedUpstream)[] = [];
  afterEach(async () => {
    await under?.close();
    for (const upstream of upstreams.splice(0)) await upstream.close();
    await folders.remove();
  });

  async function start(code: string, urls: readonly string[]): Promise<GatewayUnderTest> {
    const plugin = `
      import { definePlugin, mapEvents, ModelEvent, textReply } from '@gw2api/gateway/plugin';
      ${code}
      export default definePlugin({ name: 'own', intercepts: true, setup: () => ({ intercept }) });`;
    const folder = await folders.make({ 'own.mjs': plugin });
    const own = { use: `${folder}/own.mjs` };
    const pipeline = stages().flatMap((each) =>
      'use' in each && each.use === 'slot-pick' ? [own, each] : [each],
    );
    const slots = urls.map((url, at) => slotAt(url, { id: `slot-${at}` }));
    under = await startGateway({ pipeline, slots });
    return under;
  }

  async function held(): Promise<HeldUpstream> {
    const upstream = await startHeldUpstream();
    upstreams.push(upstream);
    return upstream;
  }

  const deliveries = formatNames.flatMap((format) => [true, false].map((stream) => ({ format, stream })));
  const named = ({ format, stream }: (typeof deliveries)[number]) =>
    `${format}, ${stream ? 'streamed' : 'whole'}`;

  for (const each of deliveries) {
    const { path, request, fold, whole } = dialects[each.format];
    const answerOf = async (response: Response): Promise<unknown> =>
      each.stream ? await fold(await response.text()) : whole(await response.json());

    it(`may refuse without a call, which takes no slot and costs nothing: ${named(each)}`, async () => {
      const { post, gateway } = bound(
        await start(`const intercept = async () => textReply('I cannot say.', { stopReason: 'refusal' });`, [
          'http://127.0.0.1:9',
        ]),
      );
      const response = await post(path, { ...request('Hi'), stream: each.stream });
      expect(response.status).to.equal(200);
      expect(response.headers.get('x-gw-slot')).to.equal(null);
      expect(response.headers.get('x-gw-attempts')).to.equal('0');
      const answer = await answerOf(response);
      expect(JSON.stringify(answer)).to.include('I cannot say.').and.match(refusals[each.format]);
      expect(answer).to.have.property('model', 'sonnet-5');
      await gateway.exchanges.idle();
      await gateway.services.ledger.flush();
      const [row] = (await gateway.services.store.ledger.requests({}, { limit: 1 })).rows;
      expect(row).to.include({ attempts: 0, failed: false, status: 200 }).and.not.have.property('slot');
      expect(Object.values(row!.billed)).to.deep.equal([0, 0, 0, 0, 0]);
    });

    it(`may end an answer, and with it the call of the upstream: ${named(each)}`, async () => {
      const upstream = await held();
      const { post } = bound(await start(stopAtSecret, [upstream.url]));
      const pending = post(path, { ...request('Hi'), stream: each.stream });
      const call = await upstream.next();
      call.say(' The SECRET');
      call.say(' is out.');
      const response = await pending;
      expect(response.headers.get('x-gw-slot')).to.equal('slot-0');
      const text = JSON.stringify(await answerOf(response));
      expect(text).to.include('Hello.').and.match(refusals[each.format]).and.not.include('SECRET');
      expect(await call.closed).to.equal(false);
    });

    it(`sees one whole answer where a broken one was cured in another slot: ${named(each)}`, async () => {
      const broken = await scripted((_, response, { start, delta }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(start + delta('Half an '));
      });
      const sound = await scripted((_, response, { start, text, end, stop }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(start + text('A whole answer.') + end + stop);
      });
      upstreams.push(broken, sound);
      const { post } = bound(await start(holdAll, [broken.url, sound.url]));
      const response = await post(path, { ...request('Hi'), stream: each.stream }, { 'x-session-id': 's' });
      expect(response.headers.get('x-gw-slot')).to.equal('slot-1');
      expect(response.headers.get('x-gw-attempts')).to.equal('2');
      const text = JSON.stringify(await answerOf(response));
      expect(text).to.include('[1] A whole answer.').and.not.include('Half');
    });
  }

  const faults = {
    'throws in it': [`transform() { throw new TypeError('SECRET'); }`, 'SECRET'],
    'ends an answer without message_stop': [
      `isOver: true, transform: (batch) => batch.slice(0, 1)`,
      'A transform ended an answer without message_stop.',
    ],
  } as const;
  for (const [what, [transform, message]] of Object.entries(faults))
    it(`whose transform ${what} is named in the log, and no other slot is asked`, async () => {
      const sound = await scripted((_, response, { start, text, end, stop }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(start + text('Hi.') + end + stop);
      });
      upstreams.push(sound);
      const intercept = `const intercept = (request, call) => call(request, { through: () => ({ ${transform} }) });`;
      const { post, logged } = bound(await start(intercept, [sound.url, sound.url]));
      const answer = await post('/v1/messages', dialects.messages.request('Hi'));
      expect(answer.headers.get('x-gw-attempts')).to.equal('1');
      expect(await errorIn(answer)).to.include({ status: 500, code: 'internal' });
      const line = logged.find(({ msg }) => msg === 'The gateway failed.');
      expect(line).to.include({ stage: 'own', path: 'pipeline[9]' });
      expect(line!['err']).to.have.property('message', message);
    });
});

/** Where each dialect says that the model has refused. */
const refusals = {
  messages: /"stop_reason":"refusal"/,
  chat: /"finish_reason":"content_filter"/,
  responses: /"incomplete_details":\{"reason":"content_filter"\}|"type":"refusal"/,
  completions: /"finish_reason":"content_filter"/,
} as const;

/** Ends the answer as a refusal where a word comes that must not; the text before it has gone out. */
const stopAtSecret = `
  function guard() {
    let isOver = false;
    const end = [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'refusal', stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ].map((event) => ModelEvent.of(event));
    return {
      get isOver() { return isOver; },
      transform(batch) {
        const at = batch.findIndex(({ data }) => data.includes('SECRET'));
        isOver = at >= 0;
        return isOver ? batch.slice(0, at) : batch;
      },
      flush: () => (isOver ? end : undefined),
    };
  }
  const intercept = (request, call) => call(request, { through: guard });`;

/** Gives an answer out once it is whole, and numbers the answers that it has seen to the end. */
const holdAll = `
  let seen = 0;
  function hold() {
    const kept = [];
    return {
      transform(batch) { kept.push(...batch); return undefined; },
      flush() {
        seen += 1;
        return kept.map((event) => {
          const { json } = event;
          if (json.type !== 'content_block_delta') return event;
          return ModelEvent.of({ ...json, delta: { ...json.delta, text: '[' + seen + '] ' + json.delta.text } });
        });
      },
    };
  }
  const intercept = (request, call) => call(request, { through: hold });`;

/** A gateway whose functions can be taken apart. */
function bound(under: GatewayUnderTest) {
  return {
    gateway: under.gateway,
    logged: under.logged,
    post: (...given: Parameters<GatewayUnderTest['post']>) => under.post(...given),
  };
}
