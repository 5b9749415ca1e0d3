import { presetNames } from '#plugins/upstreams/chat/presets.js';

/** Form of the body that a receiver gets. */
export type Wire = 'messages' | 'chat' | 'responses';

/** Upstream kind, or a preset of the kind `chat`. */
export interface Receiver {
  readonly id: string;
  readonly wire: Wire;
  readonly slot: (url: string) => object;
}

const account = { kind: 'api-key', key: 'upstream-key' };

/** A receiver of each kind, of each preset, and a chat server that reads text alone. */
export const receivers: readonly Receiver[] = [
  { id: 'messages', wire: 'messages', slot: (baseUrl) => ({ upstream: 'messages', baseUrl, account }) },
  {
    id: 'bedrock',
    wire: 'messages',
    slot: (baseUrl) => ({
      upstream: 'bedrock',
      baseUrl,
      with: { region: 'us-east-1' },
      account: { kind: 'bearer', token: 'upstream-key' },
    }),
  },
  {
    id: 'vertex',
    wire: 'messages',
    slot: (url) => ({
      upstream: 'vertex',
      baseUrl: `${url}/v1`,
      with: { project: 'test-project', region: 'global' },
      account: { ...account, header: 'authorization' },
    }),
  },
  {
    id: 'responses',
    wire: 'responses',
    slot: (url) => ({ upstream: 'responses', baseUrl: `${url}/v1`, account }),
  },
  ...presetNames.map((preset) => chat(preset, { preset })),
  chat('text-only', { images: 'none' }),
];

function chat(id: string, options: object): Receiver {
  const slot = (url: string) => ({ upstream: 'chat', baseUrl: `${url}/v1`, account, with: options });
  return { id, wire: 'chat', slot };
}

/** Config of a gateway whose slot is named by the header `x-receiver`. */
export function configFor(url: string): Readonly<Record<string, unknown>> {
  const picks = receivers.map(({ id }) => ({
    use: 'slot-pick',
    name: `pick-${id}`,
    when: { header: { 'x-receiver': id } },
    with: { slots: [id] },
  }));
  const above = ['auth', 'body-limit', 'format-decode', 'tool-choice', 'max-tokens'].map((use) => ({ use }));
  return {
    pipeline: [
      ...above,
      { oneOf: [...picks, { use: 'slot-pick' }] },
      { use: 'upstream-call', with: { attempts: 1 } },
      { use: 'format-encode' },
    ],
    slots: receivers.map(({ id, slot }) => ({ id, ...slot(`${url}/${id}`), models: ['*'] })),
  };
}
