interface Call {
  readonly index?: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

/** Delta of a choice, or its message. */
interface Said {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly Call[] | null;
  readonly function_call?: Call['function'] | null;
}

interface Choice {
  readonly index: number;
  readonly delta?: Said;
  readonly message?: Said;
  readonly finish_reason?: string | null;
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number };
}

/** Chunk of a stream, or a whole answer. */
export interface ChatAnswerBody {
  readonly choices?: readonly Choice[];
  readonly usage?: Usage | null;
  readonly error?: { readonly message: string };
}

/** What a Chat answer says, streamed or whole, from whatever server. */
export interface ChatSummary {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly (readonly [id: string, name: string, input: unknown])[];
  readonly finish: string | undefined;
  /** Prompt, completion, total, cached and thinking tokens. */
  readonly usage: readonly number[] | undefined;
  readonly error: string | undefined;
}

/** Summary of a stream, by its `data` lines. */
export function streamedSummary(sse: string): ChatSummary {
  const lines = sse.split('\n').filter((line) => line.startsWith('data: {'));
  return summaryOf(lines.map((line) => JSON.parse(line.slice(6)) as ChatAnswerBody));
}

/** Summary of one JSON body. */
export function wholeSummary(body: ChatAnswerBody): ChatSummary {
  return summaryOf([body]);
}

function summaryOf(bodies: readonly ChatAnswerBody[]): ChatSummary {
  const choices = bodies.flatMap(({ choices: all = [] }) => all).filter(({ index }) => index === 0);
  const said = choices.map(({ delta, message }) => delta ?? message ?? {});
  const join = (read: (said: Said) => string | null | undefined) =>
    said.map((each) => read(each) ?? '').join('');
  const finish = choices.map(({ finish_reason }) => finish_reason ?? undefined).find(Boolean);
  return {
    text: join(({ content }) => content),
    reasoning: join(({ reasoning_content, reasoning }) => reasoning_content ?? reasoning),
    refusal: join(({ refusal }) => refusal),
    calls: callsOf(said),
    finish,
    usage: usageOf(bodies.findLast(({ usage }) => usage)?.usage),
    // After its finish reason an answer is whole.
    error: finish === undefined ? bodies.find(({ error }) => error)?.error?.message : undefined,
  };
}

/** The calls of recorded answers, whose servers number them well. */
function callsOf(said: readonly Said[]): ChatSummary['calls'] {
  const calls = new Map<number, { id: string; name: string; json: string }>();
  for (const { tool_calls: list, function_call: called } of said)
    for (const [at, part] of [...(called ? [{ function: called }] : []), ...(list ?? [])].entries()) {
      const { index = at, id = '', function: piece }: Call = part;
      const call = calls.get(index) ?? { id: '', name: '', json: '' };
      calls.set(index, call);
      call.id ||= id;
      call.name ||= piece.name ?? '';
      call.json += piece.arguments ?? '';
    }
  return [...calls.values()].map(({ id, name, json }) => [id, name, inputIn(json)]);
}

function inputIn(json: string): unknown {
  try {
    return JSON.parse(json || '{}');
  } catch {
    return json; // cut
  }
}

function usageOf(usage: Usage | null | undefined): ChatSummary['usage'] {
  if (!usage) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const thinking = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return [prompt_tokens, completion_tokens, total_tokens, cached, thinking];
}
