import type { MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import { masterKey } from '../harness.js';

const userId = JSON.stringify({
  device_id: 'd'.repeat(64),
  account_uuid: '',
  session_id: '6a3b1c1e-5a57-4c53-9d2f-0f3f6f7c9a10',
});

/** Headers of the CLI. */
export const claudeCodeHeaders = {
  authorization: `Bearer ${masterKey}`,
  'user-agent': 'a-cli/2.1 (external, cli)',
  'x-app': 'cli',
  'x-claude-code-session-id': '6a3b1c1e-5a57-4c53-9d2f-0f3f6f7c9a10',
  'x-stainless-lang': 'js',
  cookie: 'a=b',
  'anthropic-version': '2023-06-01',
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-beta': 'interleaved-thinking-2025-05-14,context-management-2025-06-27,made-up-2027-01-01',
};

function tools(): readonly Tool[] {
  return Array.from({ length: 24 }, (_, at): Tool => ({
    name: `Tool${at}`,
    description: `Does thing ${at}. `.repeat(190),
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { path: { type: 'string' }, __proto__x: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['path'],
      additionalProperties: false,
    },
    ...(at > 8 && { defer_loading: true }),
    eager_input_streaming: true,
  }));
}

/** Some 90 kB, of the shape that was recorded: what is unusual in it matters, not what it says. */
export function claudeCodeRequest(fields: object = {}): MessagesRequest {
  const request = {
    model: 'sonnet-5',
    max_tokens: 64_000,
    stream: true,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;' },
      { type: 'text', text: 'You are a command line tool.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Long rules. '.repeat(1200), cache_control: { type: 'ephemeral' } },
    ],
    tools: tools(),
    messages: [
      { role: 'user', content: [{ type: 'text', text: '<system-reminder>Now.</system-reminder>' }] },
      { role: 'system', content: [{ type: 'text', text: 'A hint – “naïve” 🌍.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Yes?', citations: null }] },
      {
        role: 'user',
        content: [{ type: 'text', text: 'Hello!', cache_control: { type: 'ephemeral' } }],
      },
    ],
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'xhigh' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: userId },
    ...fields,
  };
  return request as unknown as MessagesRequest; // what no type knows is what is tried here
}
