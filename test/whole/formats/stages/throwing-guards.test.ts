import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { stages, startPair, type Pair } from '../../harness.js';
import { TempFolders } from '../../temp-folders.js';

/** Guard of an author that slips where it has found something. */
const slipping = `
import { mapText, TextMapper, Type, definePlugin } from '@gw2api/gateway/plugin';
export default definePlugin({
  name: 'slipping', intercepts: true,
  options: Type.Object({ way: Type.String(), ends: Type.Boolean() }),
  setup({ way, ends }) {
    const map = {
      hold: 40,
      find(text, from) {
        const start = text.indexOf('Bluebird', from);
        if (start < 0) return undefined;
        return { start, end: start + 8, ...(ends ? { ends: { stop_reason: 'refusal' } } : { text: '***' }) };
      },
      onMatch: (match) => match.counter.add(),
    };
    return {
      async intercept(request, call) {
        if (way === 'through') return call(request, { through: () => new TextMapper(map) });
        const reply = await call(request);
        return { ...reply, events: mapText(reply.events, map) };
      },
    };
  },
});
`;

const text = `${'All is well. '.repeat(40)}We call it Bluebird, ${'which follows. '.repeat(40)}`;
const said = `[[sim:slow ms=1]] [[sim:say text="${text}"]]`;

describe('a guard that throws at its match', () => {
  let pair: Pair;
  const folders = new TempFolders();
  afterEach(() => pair.close());
  after(() => folders.remove());

  async function start(options: object): Promise<void> {
    const folder = await folders.make({ 'slipping.mjs': slipping });
    const all = stages();
    const at = all.findIndex((entry) => (entry as { use: string }).use === 'slot-pick');
    const guard = { use: `${folder}/slipping.mjs`, with: options };
    pair = await startPair({ pipeline: [...all.slice(0, at), guard, ...all.slice(at)] });
  }

  for (const way of ['through', 'mapText'])
    for (const ends of [false, true]) {
      it(`ends the stream with one error, and without what follows: ${way}, ends: ${ends}`, async () => {
        await start({ way, ends });
        for (const format of formatNames) {
          const { path, request } = dialects[format];
          const body = await (await pair.post(path, { ...request(said), stream: true })).text();
          expect(body, format)
            .to.include('All is well')
            .and.not.match(/Bluebird|\*\*\*|follows|refusal/);
          expect(body.match(errors[format]), format).to.have.length(1);
          expect(body, format).not.to.match(/message_stop|\[DONE\]|response\.completed|finish_reason":"/);
        }
      });

      it(`answers an error where the answer is whole: ${way}, ends: ${ends}`, async () => {
        await start({ way, ends });
        for (const format of formatNames) {
          const { path, request } = dialects[format];
          const response = await pair.post(path, { ...request(said), stream: false });
          expect(response.status, format).to.equal(500);
          expect(await response.text(), format).not.to.match(/All is well|Bluebird|follows/);
        }
      });
    }
});

const errors = {
  messages: /"type":"error"/g,
  chat: /"error":\{/g,
  responses: /"type":"(?:error|response\.failed)"/g,
  completions: /"error":\{/g,
};
