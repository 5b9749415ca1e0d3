import { expect } from 'chai';
import { ask, slotAt, startGateway } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { scripted, type Parts } from '../../scripted-upstream.js';

const code = { toString: 1, valueOf: 1 };
const error = { type: 'invalid_request_error', message: 'No.', code };
const lines = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const streams = { 'content-type': 'text/event-stream' };

const hostile: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'an error answer with an object as its code': [400, JSON.stringify({ error })],
  'an error event with an object as its code': [200, lines('error', { type: 'error', error })],
  ...Object.fromEntries(
    ['__proto__', 'constructor', 'toString'].map((name) => [
      `an event named ${name}`,
      [200, lines(name, { type: name, item: {} })],
    ]),
  ),
};

describe('a hostile answer', () => {
  for (const upstream of ['messages', 'chat', 'responses', 'bedrock'])
    for (const [what, [status, body]] of Object.entries(hostile)) {
      if (upstream === 'bedrock' && status === 200) continue; // it has frames
      it(`of a slot of the kind ${upstream} is left for another slot: ${what}`, async () => {
        let isAlone = true;
        const bad = await scripted((_, response) => response.writeHead(status, streams).end(body));
        const good = await scripted((_, response, { start, text, end, stop }: Parts) =>
          isAlone
            ? response.destroy()
            : response.writeHead(200, streams).end(start + text('Hi') + end + stop),
        );
        const models = ['*'];
        const account = upstream === 'bedrock' ? { account: { kind: 'bearer', token: 'abcdefgh' } } : {};
        const slots = [
          slotAt(bad.url, { upstream, models, ...account, weight: 1000 }),
          slotAt(good.url, { id: 'b', models, weight: 1 }),
        ];
        const under = await startGateway({ slots });
        under.gateway.services.slots.pause('b');
        const alone = await errorIn(await under.post('/v1/messages', ask('Hello!')));
        isAlone = false;
        under.gateway.services.slots.resume('a');
        under.gateway.services.slots.resume('b');
        const response = await under.post('/v1/messages', ask('Hello!'), { 'x-session-id': 's' });
        await response.text();
        const shown = { ...alone, next: response.headers.get('x-gw-slot'), by: response.status };
        await under.close();
        await bad.close();
        await good.close();
        expect(shown).to.include({ status: 502, next: 'b', by: 200 });
        if (what.includes('code')) expect(shown.code).to.equal('upstream_invalid_response');
        else expect(shown.code).to.match(/^upstream_(?:invalid_response|interrupted)$/);
      });
    }
});
