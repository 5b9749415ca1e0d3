import { expect } from 'chai';
import { errorIn } from '../../kit.js';
import { scripted, type ScriptedUpstream } from '../../scripted-upstream.js';
import { startGateway, type GatewayUnderTest } from '../../harness.js';

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Turn {
  readonly role: string;
  readonly content: readonly Block[];
}

/** A call as the account of a key got it. */
interface Call {
  readonly key: string;
  readonly messages: readonly Turn[];
}

/**
 * Messages service whose accounts are of organizations: thinking is taken back by the organization alone that has
 * signed it.
 */
class ThinkingService {
  readonly calls: Call[] = [];
  /** Keys whose accounts answer with this status. */
  readonly down = new Map<string, number>();
  readonly #organizations: Readonly<Record<string, string>>;
  #server: ScriptedUpstream | undefined;

  constructor(organizations: Readonly<Record<string, string>>) {
    this.#organizations = organizations;
  }

  async start(): Promise<string> {
    this.#server = await scripted((request, response, _, body) => {
      const key = String(request.headers['x-api-key']);
      const { messages } = JSON.parse(body) as Call;
      this.calls.push({ key, messages });
      const [status, type, answer] = this.#answer(key, messages);
      response.writeHead(status, { 'content-type': type }).end(answer);
    });
    return this.#server.url;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** Keys of the calls since the last look. */
  keys(): readonly string[] {
    return this.calls.splice(0).map(({ key }) => key);
  }

  #answer(key: string, messages: readonly Turn[]): readonly [number, string, string] {
    const down = this.down.get(key);
    if (down) return [down, 'application/json', errorBody('overloaded_error', 'Overloaded')];
    const own = this.#organizations[key] ?? '';
    for (const [at, { content }] of messages.entries())
      for (const [place, { type, signature }] of (Array.isArray(content) ? content : []).entries())
        if (type === 'thinking' && signature !== own) {
          const message = `messages.${at}.content.${place}: Invalid \`signature\` in \`thinking\` block`;
          return [400, 'application/json', errorBody('invalid_request_error', message)];
        }
    return [200, 'text/event-stream', streamOf(own)];
  }
}

function errorBody(type: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type, message } });
}

function streamOf(signature: string): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const events = [
    { type: 'message_start', message },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Done.' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const red = 'red-key';
const red2 = 'red-key-2';
const blue = 'blue-key';

describe('the thinking of a session', () => {
  let service: ThinkingService;
  let gateway: GatewayUnderTest;
  /** Conversation as the caller has it. */
  let messages: Turn[];

  async function start(organizations: Readonly<Record<string, string | undefined>>): Promise<void> {
    service = new ThinkingService({ [red]: 'red', [red2]: 'red', [blue]: 'blue' });
    const baseUrl = await service.start();
    messages = [];
    gateway = await startGateway({
      slots: Object.entries(organizations).map(([key, organization]) => ({
        id: key,
        upstream: 'messages',
        baseUrl,
        account: { kind: 'api-key', key },
        ...(organization !== undefined && { organization }),
        cooldown: { overloaded: { first: '1h', max: '1h' }, max: '1h' },
      })),
      pipeline: [
        { use: 'auth' },
        { use: 'body-limit' },
        { use: 'format-decode' },
        { use: 'slot-pick', with: { policy: 'priority' } },
        { use: 'upstream-call' },
        { use: 'format-encode' },
      ],
    });
  }

  afterEach(async () => {
    await gateway.close();
    await service.close();
  });

  /** Sends the conversation with one more turn of the user, and takes the answer into it. */
  async function say(block: Block, fields: object = {}): Promise<Response> {
    messages.push({ role: 'user', content: [block] });
    const body = { model: 'sonnet-5', max_tokens: 5000, thinking: { type: 'adaptive' }, messages, ...fields };
    const response = await gateway.post('/v1/messages', body, { 'x-session-id': 's' });
    if (response.status === 200) {
      const { content } = (await response.clone().json()) as Turn;
      messages.push({ role: 'assistant', content });
    }
    return response;
  }

  const hi: Block = { type: 'text', text: 'Hi.' };
  const result: Block = { type: 'tool_result', tool_use_id: 'call_1', content: '4' };

  /** Adds a call to the last answer, which so begins a tool loop. */
  function callTool(): void {
    const { content } = messages.pop()!;
    const call = { type: 'tool_use', id: 'call_1', name: 'look', input: {} };
    messages.push({ role: 'assistant', content: [...content, call] });
  }

  const signatures = (turns: readonly Turn[]) =>
    turns.flatMap(({ content }) =>
      content.flatMap(({ type, signature }) => (type === 'thinking' ? [signature] : [])),
    );
  const lastSent = () => signatures(service.calls.at(-1)!.messages);

  it('keeps it to the slots of one organization as long as one of those can serve', async () => {
    await start({ [red]: 'red', [blue]: 'blue', [red2]: 'red' });
    await say(hi);
    service.down.set(red, 529);
    expect(await say(hi)).to.have.property('status', 200);
    expect(lastSent()).to.deep.equal(['red']);
    await say(hi);
    expect(service.keys()).to.deep.equal([red, red, red2, red2]);
  });

  it('is removed before a call in another organization, from then on, and reported', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    service.down.set(red, 529);
    const moved = await say(hi);
    expect([moved.status, moved.headers.get('x-gw-slot')]).to.deep.equal([200, blue]);
    expect(moved.headers.get('x-gw-dropped')).to.include('messages[1]');
    expect(service.calls.at(-1)!.messages[1]).to.deep.equal({
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.' }],
    });
    expect(await say(hi)).to.have.property('status', 200);
    expect(lastSent()).to.deep.equal(['blue']);
    expect(service.keys()).to.deep.equal([red, red, blue, blue]);
  });

  it('is known to be of another organization after requests that nobody could answer', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    service.down.set(red, 529).set(blue, 529);
    for (const _ of [1, 2]) {
      expect(await say(hi)).to.have.property('status', 529);
      messages.pop();
    }
    service.down.delete(blue);
    expect(await say(hi)).to.have.property('status', 200);
    expect(lastSent()).to.deep.equal([]);
  });

  it('is removed once more on the way back', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    gateway.gateway.services.slots.pause(red);
    await say(hi);
    gateway.gateway.services.slots.resume(red);
    gateway.gateway.services.slots.pause(blue);
    const back = await say(hi);
    expect([back.status, back.headers.get('x-gw-slot')]).to.deep.equal([200, red]);
    expect(lastSent()).to.deep.equal([]);
    await say(hi);
    expect(lastSent()).to.deep.equal(['red']);
  });

  it('keeps a tool loop in its organization, whose error is passed on', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    callTool();
    service.down.set(red, 529);
    const refused = await say(result);
    expect(await errorIn(refused)).to.include({
      status: 529,
      type: 'overloaded_error',
      message: 'Overloaded',
    });
    messages.pop();
    expect(await say(result)).to.have.property('status', 529);
    expect(service.keys().every((key) => key === red)).to.equal(true);
    service.down.clear();
    messages.pop();
    expect(await say(result)).to.have.property('status', 200);
    expect(lastSent()).to.deep.equal(['red']);
  });

  it('keeps no tool loop without it', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    callTool();
    service.down.set(red, 529);
    const moved = await say(result, { thinking: { type: 'disabled' } });
    expect([moved.status, moved.headers.get('x-gw-slot')]).to.deep.equal([200, blue]);
    expect(lastSent()).to.deep.equal([]);
  });

  it('stays within a tool loop that goes on after a move, without what is older', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    await say(hi);
    service.down.set(red, 529);
    await say(hi);
    callTool();
    expect(await say(result)).to.have.property('status', 200);
    expect(lastSent()).to.deep.equal(['blue']);
    service.down.clear();
    service.down.set(blue, 529);
    callTool();
    expect(await say(result)).to.have.property('status', 529);
  });

  describe('in slots that are of one organization as far as the config says', () => {
    beforeEach(() => start({ [red]: undefined, [blue]: undefined }));

    it('is removed once another account has refused it after a move', async () => {
      await say(hi);
      service.down.set(red, 529);
      const moved = await say(hi);
      expect([moved.status, moved.headers.get('x-gw-attempts')]).to.deep.equal([200, '3']);
      expect(lastSent()).to.deep.equal([]);
      const next = await say(hi);
      expect([next.status, next.headers.get('x-gw-attempts')]).to.deep.equal([200, '1']);
      expect(lastSent()).to.deep.equal(['blue']);
      const metrics = await (await gateway.get('/metrics')).text();
      expect(metrics).to.include(`gw2api_taken_back_total{part="thinking.signature",slot="${blue}"} 1`);
    });

    it('is refused as its caller sends it, where the session was not moved', async () => {
      await say(hi);
      messages[1] = { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: 'x' }, hi] };
      const refused = await say(hi);
      expect(await errorIn(refused)).to.include({
        status: 400,
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      });
      expect(service.keys()).to.deep.equal([red, red]);
    });

    it('is refused within a tool loop that needs it', async () => {
      await say(hi);
      callTool();
      service.down.set(red, 529);
      expect(await errorIn(await say(result))).to.include({ status: 400 });
      expect(service.keys()).to.deep.equal([red, red, blue]);
    });
  });

  it('is of no session that has no name', async () => {
    await start({ [red]: 'red', [blue]: 'blue' });
    const thinking = { type: 'thinking', thinking: '', signature: 'red' };
    const turns = [
      { role: 'user', content: [hi] },
      { role: 'assistant', content: [thinking, hi] },
      { role: 'user', content: [hi] },
    ];
    service.down.set(red, 529);
    const response = await gateway.post('/v1/messages', {
      model: 'sonnet-5',
      max_tokens: 9,
      messages: turns,
    });
    expect(await errorIn(response)).to.include({ status: 400 });
  });
});
