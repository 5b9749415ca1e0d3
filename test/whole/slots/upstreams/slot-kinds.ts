import { Kit } from '../../../engine/transport/upstream-kit.js';
import { text } from 'node:stream/consumers';
import { slotAt, stages, startGateway, type GatewayUnderTest, type StageOverrides } from '../../harness.js';

/** A request as an upstream got it. */
export interface Sent {
  readonly url: string;
  readonly text: string;
}

/** A stream of an upstream in answer to a request; undefined: a short text. */
export type Play = (sent: Sent) => string | undefined;

export interface SlotKinds extends GatewayUnderTest {
  /** Requests that went up, the last one at the end, but for token counts. */
  readonly sent: readonly Sent[];
  /** What the upstreams answer from now on. */
  play(answer: Play): void;
  /** Posts to the slot of this id. */
  ask(slot: string, path: string, body: unknown): Promise<Response>;
}

interface Options extends StageOverrides {
  /** Presets of chat slots, which are named after them. */
  readonly presets?: readonly string[];
}

/** A gateway with a slot `messages`, one `responses` and one for each preset, over one server that records requests. */
export async function startKinds({ presets = ['generic'], ...overrides }: Options = {}): Promise<SlotKinds> {
  const kit = new Kit();
  const sent: Sent[] = [];
  let play: Play = () => undefined;
  const url = await kit.serve(async (request, response) => {
    const got = { url: request.url ?? '', text: await text(request) };
    const isCount = got.url.includes('count_tokens');
    if (!isCount) sent.push(got); // the gateway counts its additions when it likes
    const type = isCount ? 'application/json' : 'text/event-stream';
    response
      .writeHead(200, { 'content-type': type })
      .end(isCount ? '{"input_tokens":7}' : (play(got) ?? short(got)));
  });
  const chats = presets.map((preset) => ({ id: preset, upstream: 'chat', with: { preset } }));
  const slots = [...chats, { id: 'responses', upstream: 'responses' }, { id: 'messages' }].map((slot) =>
    slotAt(url, { models: ['*'], ...slot }),
  );
  const pipeline = stages(overrides).flatMap((stage) =>
    'use' in stage && stage.use === 'slot-pick'
      ? [{ oneOf: picks([...presets, 'responses', 'messages']) }]
      : [stage],
  );
  const under = await startGateway({ slots, pipeline });
  return {
    ...under,
    sent,
    play: (answer) => void (play = answer),
    ask: (slot, path, body) => under.post(path, body, { 'x-kind': slot }),
    async close() {
      await under.close();
      await kit.close();
    },
  };
}

function picks(ids: readonly string[]): readonly object[] {
  return ids.map((id, at) => ({
    use: 'slot-pick',
    name: `pick-${id}`,
    with: { slots: [id] },
    ...(at < ids.length - 1 && { when: { header: { 'x-kind': id } } }),
  }));
}

const data = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;

/** Stream of a server with a text and nothing else. */
export function short({ url }: Pick<Sent, 'url'>, said = 'Hello.'): string {
  if (url.includes('/chat/completions')) return chatStream([{ role: 'assistant', content: said }]);
  if (!url.includes('/responses'))
    return messagesStream([
      { start: { type: 'text', text: '' }, deltas: [{ type: 'text_delta', text: said }] },
    ]);
  const content = [{ type: 'output_text', text: said }];
  return responsesStream([{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]);
}

/** Chunks of a Chat server. */
export function chatStream(deltas: readonly object[], finish = 'stop'): string {
  const chunk = (delta: object, finish_reason: string | null) =>
    data({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    });
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  return [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    data({ id: 'chatcmpl-1', model: 'm', choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

/** Events of a Responses server that answers with whole items. */
export function responsesStream(items: readonly object[], status = 'completed'): string {
  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  return [
    { type: 'response.created', response: { id: 'resp_1', model: 'm', status: 'in_progress', output: [] } },
    ...items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: `response.${status}`, response: { id: 'resp_1', model: 'm', status, output: items, usage } },
  ]
    .map(data)
    .join('');
}

/** A block of a Messages answer. */
export interface StreamedBlock {
  readonly start: object;
  readonly deltas: readonly object[];
}

export function messagesStream(blocks: readonly StreamedBlock[], stop_reason = 'end_turn'): string {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
  };
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage } },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\n${data(event)}`)
    .join('');
}
