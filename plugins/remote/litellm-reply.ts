import { Type } from '@gw2api/gateway/plugin';
import { compileCheck, formatPath } from '@gw2api/gateway/plugin/format';
import type { Static } from 'typebox';
import { replyJson } from './remote.js';

const orNull = <Schema extends Parameters<typeof Type.Optional>[0]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const Named = Type.Object({
  name: Type.String(),
  description: orNull(Type.String()),
  parameters: orNull(Type.Record(Type.String(), Type.Unknown())),
});

/** Reply of a guard; other fields are ignored, as LiteLLM does. */
const ReplySchema = Type.Object({
  action: Type.Enum(['NONE', 'BLOCKED', 'GUARDRAIL_INTERVENED'] as const),
  blocked_reason: Type.Optional(Type.Unknown()),
  texts: orNull(Type.Array(Type.String())),
  tools: orNull(Type.Array(Type.Object({ function: orNull(Named) }))),
});

export type LitellmReply = Static<typeof ReplySchema>;

/** Compiled at the first reply. */
const compiled: { check?: ReturnType<typeof compileCheck> } = {};

/** Parses the reply to `count` texts. Throws an Error that says what is wrong, without contents. */
export function readReply(text: string, count: number): LitellmReply {
  const value = replyJson(text);
  const check = (compiled.check ??= compileCheck(ReplySchema));
  const [error] = check(value);
  if (error) throw new TypeError(`${formatPath(error.path, 'reply')}: ${error.message}`);
  const reply = value as LitellmReply; // it conforms
  const { action, texts } = reply;
  if (action !== 'BLOCKED' && texts && texts.length > 0 && texts.length !== count)
    throw new TypeError(`texts: has ${texts.length} texts in place of ${count}`);
  return reply;
}

/** Texts in place of those that were sent; those themselves, if the reply has none. */
export function textsOf({ texts }: LitellmReply, sent: readonly string[]): readonly string[] {
  return texts && texts.length > 0 ? texts : sent;
}
