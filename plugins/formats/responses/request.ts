import { extrasOf, textReply, withExtras, type Extras, type Intercept } from '@gw2api/gateway/plugin';
import { extraPath, type Decoded, type FormatContext } from '@gw2api/gateway/plugin/format';
import { responsesBody, type ResponsesBody } from './body.js';
import { itemPath, readInput, type ResponsesInput } from './input.js';
import { answeredCalls, readItem } from './items.js';
import { addWebSearchTool, readChoice, readTools, type DeclaredTools } from './tools.js';
import { buildRequest, type OutputParams } from '../shared/build-request.js';
import { bodyCheck, invalidField, isRecord, withoutNoLimits } from '../shared/body.js';
import { callerPathOf, settingPaths, type CallerPaths } from '../shared/caller-paths.js';
import { markerField } from '../shared/cache-markers.js';
import { contentPaths, type BlockPath } from '../shared/content-paths.js';
import { readThinking, type ThinkingParams } from '../shared/thinking.js';
import type { Toolbox } from '../shared/tools/toolbox.js';
import { Transcript } from '../shared/transcript.js';
import { unreadFields } from '../shared/unread/unread-fields.js';
import { unreadInFields } from '../shared/unread/unread-members.js';
import { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

const check = bodyCheck(responsesBody);
const { prompt_cache_key: _, ...readProperties } = responsesBody.properties; // read for the session alone
const reportMembers = unreadInFields(responsesBody, ['input', 'reasoning', 'tools']);
const read = new Set([...Object.keys(readProperties), 'background', 'conversation', 'prompt']);

/**
 * Decodes a Responses body to a Messages request. Throws `invalid_request` with the field's name, and for
 * `background`, `conversation`, `prompt` and an unknown `previous_response_id`.
 */
export async function decodeResponses(value: unknown, context: FormatContext): Promise<Decoded> {
  const body = check(withoutNoLimits(value));
  refuseUnservable(body);
  const dropped = new UnsupportedFields();
  reportMembers(body, dropped);
  const model = context.findModel(body.model);
  const thinking = thinkingParams(body, dropped);
  const input = await readInput(body, context);
  const tools = readTools(body, input, dropped);
  addWebSearchTool(tools, body, model?.webSearch !== false, dropped);
  const transcript = readTranscript(body, input, tools, dropped);
  const request = buildRequest(
    {
      model: body.model,
      transcript,
      maxTokens: body.max_output_tokens,
      sampling: body,
      tools: {
        tools: tools.toolbox.tools,
        parallel: body.parallel_tool_calls,
        ...readChoice(body, tools.toolbox, dropped),
      },
      thinking,
      output: outputParams(body, dropped),
      user: body.user,
      conversationPath: 'input',
    },
    dropped,
  );
  reportRest(body, Boolean(thinking.effort), dropped);
  return {
    request: withExtras(request, { ...extrasIn(body), ...extrasOf(request) }),
    stream: body.stream === true,
    dropped: dropped.paths,
    pathOf: callerPathOf(request, () =>
      pathsOf(body, { thinking, toolbox: tools.toolbox, transcript, input }),
    ),
    intercept: body.generate === false ? warmUp : undefined,
  };
}

interface Parts {
  readonly thinking: ThinkingParams;
  readonly toolbox: Toolbox;
  readonly transcript: Transcript;
  readonly input: ResponsesInput;
}

function pathsOf(body: ResponsesBody, { thinking, toolbox, transcript, input }: Parts): CallerPaths {
  return {
    fields: {
      ...settingPaths(thinking),
      messages: 'input',
      max_tokens: 'max_output_tokens',
      'output_config.format': 'text.format',
      [extraPath('verbosity')]: 'text.verbosity',
      [extraPath('logprobs')]: logprobsPath(body),
      [extraPath('reasoning.summary')]:
        `reasoning.${body.reasoning?.summary ? 'summary' : 'generate_summary'}`,
    },
    toolPath: (name) => toolbox.placeOf(name),
    contentPath: contentPaths(transcript, itemBlockPath(input)),
  };
}

function logprobsPath({ include }: ResponsesBody): string {
  const at = include?.indexOf(logprobsIncluded) ?? -1;
  return at < 0 ? 'top_logprobs' : `include[${at}]`;
}

/** Paths of the blocks that were made of an item. */
function itemBlockPath({ items, carried }: ResponsesInput): BlockPath {
  return ({ path, index }, rest) => {
    const at = /^input\[(\d+)\]$/.exec(path)?.[1];
    const item = at === undefined ? undefined : items[carried + Number(at)];
    if (!item) return path;
    if (rest === '.phase') return `${path}.phase`;
    if (item['output'] !== undefined) return `${path}${rest.replace(/^\.content\b/, '.output')}`;
    if (Array.isArray(item['content'])) {
      const part: unknown = item['content'][index];
      const field = rest === '.cache_control' && isRecord(part) ? markerField(part) : undefined;
      return `${path}.content[${index}]${field ? `.${field}` : rest}`;
    }
    return typeof item['content'] === 'string' ? `${path}.content` : `${path}${rest}`;
  };
}

/** Fields for upstreams that know them, under their names in Chat Completions. */
function extrasIn(body: ResponsesBody): Extras {
  const verbosity = body.text?.verbosity;
  const { effort, summary, generate_summary } = body.reasoning ?? {};
  const asked = body.thinking ? undefined : (summary ?? generate_summary);
  const shown = effort && asked === 'auto' ? undefined : asked; // Messages has one kind of summary, beside an effort
  const unread = unreadFields(body, read);
  const hasLogprobs = body.include?.includes(logprobsIncluded) || unread['top_logprobs'] !== undefined;
  return {
    ...unread,
    ...(hasLogprobs && { logprobs: true }),
    ...(verbosity && { verbosity }),
    ...(shown && { 'reasoning.summary': shown }),
  };
}

const logprobsIncluded = 'message.output_text.logprobs';

/** Empty answer, without a call. */
const warmUp: Intercept = async () => textReply('');

/** Refuses fields that need a background server or state stored by the vendor. */
function refuseUnservable(body: ResponsesBody & Readonly<Record<string, unknown>>): void {
  for (const field of ['background', 'conversation', 'prompt']) {
    if (body[field]) throw invalidField(field, 'is not supported by this gateway; leave it out');
  }
}

function readTranscript(
  { instructions }: ResponsesBody,
  { items, carried }: ResponsesInput,
  { toolbox, notes }: DeclaredTools,
  dropped: UnsupportedFields,
): Transcript {
  const transcript = new Transcript();
  transcript.from('instructions');
  if (instructions) transcript.addInstructions([{ type: 'text', text: instructions }]);
  const answered = answeredCalls(items);
  const called = new Set<string>();
  items.forEach((item, at) => {
    const path = itemPath(at, carried);
    transcript.from(path);
    readItem(item, path, {
      transcript,
      toolbox,
      answered,
      called,
      dropped: at < carried ? UnsupportedFields.none : dropped,
    });
  });
  transcript.from('tools');
  transcript.addInstructions(notes.map((text) => ({ type: 'text', text })));
  return transcript;
}

function thinkingParams({ reasoning, thinking }: ResponsesBody, dropped: UnsupportedFields): ThinkingParams {
  const params = readThinking({ reasoning, thinking }, dropped);
  return { ...params, isShown: Boolean(reasoning?.summary ?? reasoning?.generate_summary) };
}

function outputParams({ text }: ResponsesBody, dropped: UnsupportedFields): OutputParams | undefined {
  const format = text?.format;
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { schema: format.schema };
  if (format.type === 'json_schema') return format;
  dropped.add('text.format');
  return undefined;
}

/** Values of `include` that the encoder supports. */
const included = new Set([
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  logprobsIncluded, // an extra
]);

function reportRest(body: ResponsesBody, isThinkingAsked: boolean, dropped: UnsupportedFields): void {
  const { summary, generate_summary } = body.reasoning ?? {};
  if ((summary || generate_summary) && !isThinkingAsked && body.thinking) dropped.add('reasoning.summary');
  body.include?.forEach((name, at) => {
    if (!included.has(name)) dropped.add(`include[${at}]`);
  });
}
