import { expect } from 'chai';
import * as fc from 'fast-check';
import { presetNames, presets } from '#plugins/upstreams/chat/presets.js';
import { startGateway, type GatewayUnderTest } from '../../harness.js';
import { callers, type Caller, type Choice, type Terms } from './callers.js';
import { conversations, type Step } from './conversations.js';
import { expectPrefix } from './law.js';
import { RecordingUpstream, type Body } from './recording-upstream.js';

export const formats = Object.keys(callers);
/** Chat servers with capabilities that no preset has. */
const unusual: Readonly<Record<string, object>> = {
  'no-system': { systemRole: 'user', textParts: false, reasoningField: 'reasoning' },
  'marked-parts': { userAfterTool: false, cacheControl: true, names: true, toolCallIds: 'nine' },
};

export const slotIds = [
  'messages',
  'bedrock',
  'vertex',
  'responses',
  ...presetNames,
  ...Object.keys(unusual),
];

function slotsAt(upstream: RecordingUpstream): readonly object[] {
  const account = { kind: 'bearer', token: 'k' };
  const kinds: Readonly<Record<string, object>> = {
    bedrock: { upstream: 'bedrock', with: { region: 'us-east-1' } },
    vertex: { upstream: 'vertex', with: { project: 'p', region: 'global' } },
    messages: { upstream: 'messages' },
    responses: { upstream: 'responses' },
  };
  return slotIds.map((id) => ({
    id,
    account,
    baseUrl: upstream.urlOf(id),
    ...(kinds[id] ?? { upstream: 'chat', with: unusual[id] ?? { preset: id } }),
  }));
}

const begin = ['auth', 'body-limit', 'format-decode'];
const end = ['upstream-call', 'usage-mask', 'format-encode'];

/** Leads each request to the slot that its header names. */
const picks = {
  oneOf: slotIds.map((id, at) => ({
    use: 'slot-pick',
    name: `pick-${id}`,
    ...(at < slotIds.length - 1 && { when: { header: { 'x-slot': id } } }),
    with: { slots: [id] },
  })),
};

/** Stages that come with the gateway and pass a call of a model, each with an ordinary config. */
export const stages: readonly (readonly [name: string, entry?: object])[] = [
  ['rate-limit'],
  ['persona-inject', { cache: true }],
  ['web-search-tool'],
  ['tool-choice'],
  ['max-tokens'],
  ['cache-ttl'],
  ['redact', { system: true, patterns: ['email', { name: 'number', pattern: 'two|four' }] }],
  ['guard', { patterns: [{ name: 'number', pattern: 'three' }], action: 'mask', request: true }],
  ['response-cache'],
  ['record'],
];

export class Law {
  readonly upstream: RecordingUpstream;
  readonly gateway: GatewayUnderTest;

  private constructor(upstream: RecordingUpstream, gateway: GatewayUnderTest) {
    this.upstream = upstream;
    this.gateway = gateway;
  }

  static async of(pipeline: readonly object[]): Promise<Law> {
    const upstream = await RecordingUpstream.open();
    const config = { pipeline, slots: slotsAt(upstream) };
    const gateway = await startGateway(config, {}, Date.now, { secretKey: 'a key of tests' });
    return new Law(upstream, gateway);
  }

  /** Holds the law for generated conversations of one caller over one upstream. */
  async hold(format: string, slot: string, numRuns: number, stage?: string): Promise<void> {
    const caller = callers[format]!;
    const choices = fc.constantFrom(...caller.choices);
    const given = fc.record({
      conversation: conversations,
      isDemanding: fc.boolean(),
      choices: fc.tuple(choices, choices),
    });
    const property = fc.asyncProperty(given, async ({ conversation, isDemanding, choices: [one, other] }) => {
      const { steps, first } = conversation;
      const send = (count: number, choice: Choice) =>
        this.#send(caller, slot, steps.slice(0, count), { model, marked: count - 1, choice, isDemanding });
      const [before, after] = [await send(first, one), await send(steps.length, other)];
      const mayDiffer = one !== other && [one, other].some((choice) => mayFilter(slot, choice, stage));
      if (before && after && !mayDiffer) expectPrefix(before, after);
    });
    await fc.assert(property, { numRuns, seed: 25 });
  }

  /** Holds the law for turns that name the response before them. */
  async holdByIds(slot: string): Promise<void> {
    let previous: string | undefined;
    let before: Body | undefined;
    for (const text of ['one', 'two', 'three']) {
      const input = [
        { role: 'user', content: text },
        { role: 'developer', content: `After ${text}.` },
      ];
      const body = { model, input, ...(previous && { previous_response_id: previous }) };
      const response = await this.gateway.post('/v1/responses', body, { 'x-slot': slot });
      previous = ((await response.json()) as { id: string }).id;
      const after = this.upstream.take(slot);
      expect(after).to.be.an('object');
      if (before) expectPrefix(before, after!);
      before = after;
    }
  }

  /** Body that reaches the upstream; undefined for a request that is refused. */
  async #send(caller: Caller, slot: string, steps: readonly Step[], terms: Terms): Promise<Body | undefined> {
    const body = caller.body(steps, terms);
    const response = await this.gateway.post(caller.path, body, { 'x-slot': slot });
    await response.text();
    expect(response.status).to.be.oneOf([200, 400]); // a Messages upstream takes no blank last turn
    return this.upstream.take(slot);
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.upstream.close();
  }
}

const model = 'sonnet-5';

/** True for a choice that a server can only be told by the tools that it is offered. */
function mayFilter(slot: string, choice: Choice, stage?: string): boolean {
  if (choice === 'any') return stage === 'web-search-tool';
  const toolChoice = slot in presets ? presets[slot as keyof typeof presets].toolChoice : 'named';
  if (choice === 'allowed') return !['responses', 'openai'].includes(slot);
  return toolChoice === 'none' ? choice === 'none' : toolChoice === 'words' && choice === 'tool';
}

/** Pipeline with these stages, or without any that changes requests. */
export function pipelineOf(...entries: readonly object[]): readonly object[] {
  const [first, last] = [begin, end].map((names) => names.map((use) => ({ use })));
  return [...(first ?? []), ...entries, picks, ...(last ?? [])];
}
