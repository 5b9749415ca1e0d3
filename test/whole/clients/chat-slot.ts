import { masterKey, startGateway, startPair, type GatewayUnderTest, type Pair } from '../harness.js';

/** Gateway with a `chat` slot, whose upstream is a second gateway over a simulator. */
export interface ChatPair extends GatewayUnderTest {
  /** The second gateway, and its simulator. */
  readonly behind: Pair;
}

/** Starts both; the second one speaks OpenRouter's dialect, whose `reasoning_details` it knows. */
export async function startChatPair(options: object = {}): Promise<ChatPair> {
  const behind = await startPair({ pipeline: bare });
  const slot = {
    id: 'chat',
    upstream: 'chat',
    baseUrl: `${behind.url}/v1`,
    account: { kind: 'api-key', key: masterKey },
    with: { preset: 'openrouter', reasoning: 'effort', ...options },
  };
  const front = await startGateway({ slots: [slot] });
  return {
    ...front,
    behind,
    async close() {
      await front.close();
      await behind.close();
    },
  };
}

/** Stages that change nothing. */
const bare = [
  'auth',
  'body-limit',
  'format-decode',
  'max-tokens',
  'slot-pick',
  'upstream-call',
  'format-encode',
].map((use) => ({ use }));
