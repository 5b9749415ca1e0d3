import type { Static } from 'typebox';
import { Type, withExtras, type Intercept, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { Decoded } from '@gw2api/gateway/plugin/format';
import { buildRequest } from '../shared/build-request.js';
import { bodyCheck, completionFields, invalidField, nullable, withoutNoLimits } from '../shared/body.js';
import { fanOut } from '../shared/fan-out.js';
import { Transcript } from '../shared/transcript.js';
import { unreadFields } from '../shared/unread/unread-fields.js';
import { unreadInFields } from '../shared/unread/unread-members.js';
import { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

/** Schema of the Completions fields that are read. */
export const completionsBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  /** A string or strings: one call each, in the order of the answer's choices. */
  prompt: Type.Unknown(),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  /** The prompt stands in front of each answer. */
  echo: nullable(Type.Boolean()),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  ...completionFields,
});

/** Completions body, with the fields that are read. */
export type CompletionsBody = Static<typeof completionsBody>;

const check = bodyCheck(completionsBody);
const read = new Set(Object.keys(completionsBody.properties));
const reportMembers = unreadInFields(completionsBody);

/** Decodes to one call per prompt and answer. Throws `invalid_request` for prompts of token numbers. */
export function decodeCompletions(value: unknown): Decoded {
  const body = check(withoutNoLimits(value));
  const dropped = new UnsupportedFields();
  reportMembers(body, dropped);
  const prompts = promptsOf(body);
  const transcript = new Transcript();
  transcript.add('user', prompts.slice(0, 1).map(textBlock));
  const messages = prompts.map((text) => ({ role: 'user' as const, content: [textBlock(text)] }));
  const { model, max_tokens: maxTokens, stop, user } = body;
  const { logprobs, top_logprobs: _, ...extras } = unreadFields(body, read); // a number here, a switch in Chat
  if (logprobs !== undefined) dropped.add('logprobs');
  const request = buildRequest(
    { model, transcript, maxTokens, stop, user, sampling: body, conversationPath: 'prompt' },
    dropped,
  );
  return {
    request: withExtras({ ...request, messages }, extras),
    stream: body.stream === true,
    dropped: dropped.paths,
    pathOf: (path) => (path.startsWith('messages') ? 'prompt' : (names[path] ?? path)),
    intercept: interceptOf(prompts.length, body.n ?? 1),
    answers: prompts.length * (body.n ?? 1),
  };
}

const names: Readonly<Record<string, string>> = { stop_sequences: 'stop', 'metadata.user_id': 'user' };

/** Prompts of a body, at least one and none blank; the encoder needs them too, for `echo`. */
export function promptsOf({ prompt }: Pick<CompletionsBody, 'prompt'>): readonly string[] {
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (prompts.length === 0) throw invalidField('prompt', 'must have at least one item');
  return prompts.map((text, at) => {
    const path = Array.isArray(prompt) ? `prompt[${at}]` : 'prompt';
    if (typeof text === 'number' || Array.isArray(text))
      throw invalidField('prompt', 'must be text: the gateway cannot read prompts made of token numbers');
    if (typeof text !== 'string') throw invalidField(path, 'must be a string or an array of strings');
    if (text.trim() === '') throw invalidField(path, 'must not be blank');
    return text;
  });
}

/** Max concurrent calls for one request; a higher number is a mistake or an attack. */
export const maxChoices = 128;

/**
 * Fan-out to one call per prompt and answer. The request has a message for each prompt, so that stages see all of them;
 * each call keeps its own prompt and the messages that stages have added after it.
 */
function interceptOf(prompts: number, n: number): Intercept | undefined {
  const choices = prompts * n;
  if (choices > maxChoices)
    throw invalidField(
      'n',
      `asks for ${choices} answers with these prompts; at most ${maxChoices} are allowed`,
    );
  if (choices === 1) return undefined;
  const variants = Array.from({ length: choices }, (_, choice) => Math.floor(choice / n));
  return fanOut(variants.map((prompt) => (request) => onlyPrompt(request, prompt, prompts)));
}

function onlyPrompt(request: MessagesRequest, prompt: number, prompts: number): MessagesRequest {
  const messages = request.messages.filter((_, at) => at === prompt || at >= prompts);
  return { ...request, messages };
}

function textBlock(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text };
}
