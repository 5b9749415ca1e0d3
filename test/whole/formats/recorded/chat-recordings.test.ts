import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { streamedSummary, wholeSummary, type ChatAnswerBody, type ChatSummary } from './chat-answers.js';
import { each } from './each.js';
import { startGateway, stages, type GatewayUnderTest } from '../../harness.js';
import { json, promptOf, startReplay, type Answer, type Received, type Replay } from './replay.js';

const shared = join(process.cwd(), '../shared/fixtures');
const streams = recordings('chat-streams', '.sse');
const wholes = recordings('chat-responses', '.json');
const all = new Map([...streams, ...wholes]);

/** Recordings by name; none where they are not beside the repository. */
function recordings(folder: string, ending: string): ReadonlyMap<string, string> {
  const path = join(shared, folder);
  if (!existsSync(path)) return new Map();
  const names = readdirSync(path).filter((name) => name.endsWith(ending));
  return new Map(names.map((name) => [name, readFileSync(join(path, name), 'utf8')]));
}

/** What a client of the provider itself gets of a recording. */
function direct(name: string): ChatSummary {
  const text = all.get(name)!;
  return name.endsWith('.sse') ? streamedSummary(text) : wholeSummary(JSON.parse(text) as ChatAnswerBody);
}

/** Answers with the recording that the prompt names, in pieces of so many bytes where it says that too. */
function answer(received: Received): Answer | undefined {
  const [name = '', size = '1000000'] = promptOf(received).split(' ');
  const text = all.get(name);
  if (text === undefined) return undefined;
  if (!name.endsWith('.sse')) return json(JSON.parse(text));
  const bytes = Buffer.from(text);
  const pieces = [];
  for (let at = 0; at < bytes.length; at += Number(size)) pieces.push(bytes.subarray(at, at + Number(size)));
  return { pieces };
}

describe('a Chat client before a recorded Chat server gets what it would have got directly', function () {
  this.timeout(60_000);
  let replay: Replay;
  let gateway: GatewayUnderTest;
  before(async function () {
    if (all.size === 0) this.skip();
    replay = await startReplay(answer);
    const account = { kind: 'api-key', key: 'upstream-key' };
    gateway = await startGateway({
      slots: [{ id: 'chat', upstream: 'chat', baseUrl: `${replay.url}/v1`, account }],
      pipeline: stages({ without: ['persona-inject', 'web-search-tool'] }),
    });
  });
  after(() => gateway?.close());
  after(() => replay?.close());

  async function ask(prompt: string, fields: object): Promise<Response> {
    const legacy = prompt.startsWith('legacy') ? { functions: [{ name: 'any' }] } : {};
    const messages = [{ role: 'user', content: prompt }];
    return gateway.post('/v1/chat/completions', { model: 'sonnet-5', messages, ...legacy, ...fields });
  }

  async function streamed(prompt: string): Promise<ChatSummary> {
    const response = await ask(prompt, { stream: true, stream_options: { include_usage: true } });
    const text = await response.text();
    return response.status === 200 ? streamedSummary(text) : wholeSummary(JSON.parse(text) as ChatAnswerBody);
  }

  async function whole(prompt: string): Promise<ChatSummary> {
    return wholeSummary((await (await ask(prompt, {})).json()) as ChatAnswerBody);
  }

  function check(name: string, got: ChatSummary, isWhole: boolean): void {
    const { usage, ...expected } = direct(name);
    const { usage: counted, ...rest } = got;
    // A broken answer is no answer where it is asked for whole.
    if (isWhole && expected.error !== undefined) expect(rest.error).to.equal(expected.error);
    else expect(withoutIds(name, rest)).to.deep.equal(withoutIds(name, expected));
    if (usage !== undefined) expect(counted).to.deep.equal(usage);
  }

  it('streamed', () =>
    each([...all.keys()], basename, async (name) => check(name, await streamed(name), false)));

  it('whole', () => each([...all.keys()], basename, async (name) => check(name, await whole(name), true)));

  for (const size of [1, 13, 250])
    it(`in reads of ${size} bytes`, () =>
      each([...streams.keys()], basename, async (name) => {
        const bytes = Buffer.byteLength(all.get(name)!);
        // One byte at a time takes long: the others stand for long recordings.
        if (bytes / size < 6000) check(name, await streamed(`${name} ${size}`), false);
      }));
});

/** A legacy function call has no id. */
function withoutIds(name: string, summary: Omit<ChatSummary, 'usage'>): object {
  if (!name.startsWith('legacy')) return summary;
  return { ...summary, calls: summary.calls.map(([, ...call]) => call) };
}
