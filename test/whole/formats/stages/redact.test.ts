import { expect } from 'chai';
import { dialects, formatNames } from '../dialects.js';
import { ask, stages, startPair, type Pair } from '../../harness.js';
import { callsTo, lastCall } from '../../kit.js';

const mail = 'jo.doe@example.com';

describe('redact', () => {
  let pair: Pair;
  before(async () => {
    const [first, second, third, ...rest] = stages();
    pair = await startPair({ pipeline: [first, second, third, { use: 'redact' }, ...rest] });
  });
  after(() => pair.close());

  for (const format of formatNames)
    for (const stream of [false, true])
      it(`keeps values from the upstream and not from the caller: ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { path, request, fold, whole } = dialects[format];
        const response = await pair.post(path, { ...request(`Write to ${mail}!`), stream });
        expect(response.status).to.equal(200);
        const text = await response.text();
        const answer = JSON.stringify(await (stream ? fold(text) : whole(JSON.parse(text))));
        expect(answer).to.include(`You said: Write to ${mail}!`);
        const sent = JSON.stringify(lastCall(pair.simulator));
        expect(sent).to.include('Write to [EMAIL_1]!').and.not.to.include(mail);
      });

  it('gives several choices their values', async () => {
    const body = { ...dialects.chat.request(`Write to ${mail}!`), n: 2 };
    const answer = (await (await pair.post('/v1/chat/completions', body)).json()) as {
      choices: { message: { content: string } }[];
    };
    for (const { message } of answer.choices) expect(message.content).to.include(mail);
    expect(answer.choices).to.have.length(2);
  });

  it('keeps them from a count of tokens', async () => {
    await pair.post('/v1/messages/count_tokens', { ...ask(mail), max_tokens: undefined });
    expect(JSON.stringify(pair.simulator.requests.at(-1)))
      .to.include('[EMAIL_1]')
      .and.not.to.include(mail);
  });

  it('sends a conversation with the placeholders of its earlier turns', async () => {
    const before = callsTo(pair.simulator).length;
    const turns = [{ role: 'user', content: mail }];
    await pair.post('/v1/messages', ask('', { messages: turns }));
    const next = [
      ...turns,
      { role: 'assistant', content: `You said: ${mail}` },
      { role: 'user', content: 'a@b.io' },
    ];
    await pair.post('/v1/messages', ask('', { messages: next }));
    const [first, second] = callsTo(pair.simulator)
      .slice(before)
      .map(({ body }) => (body as { messages: object[] }).messages);
    const texts = JSON.stringify(second);
    expect(texts).to.include('You said: [EMAIL_1]').and.include('[EMAIL_2]');
    expect(JSON.stringify(first)).to.include('[EMAIL_1]');
  });
});
