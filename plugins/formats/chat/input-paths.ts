import { changedError, isGatewayError } from '@gw2api/gateway/plugin';
import type { Decoded } from '@gw2api/gateway/plugin/format';
import { inputOrigins } from './input-body.js';
import { isRecord } from '../shared/body.js';

type Fields = Readonly<Record<string, unknown>>;

/** A decoded body under the paths that its caller wrote, if those of Responses differ. */
export async function withInputPaths(body: Fields, decode: () => Promise<Decoded>): Promise<Decoded> {
  try {
    const decoded = await decode();
    const { pathOf = (path) => path } = decoded;
    const named = (path: string): string | undefined => {
      const own = pathOf(path);
      return own === undefined ? undefined : inputPath(own, body);
    };
    const dropped = decoded.dropped.map((loss) =>
      typeof loss === 'string' ? inputPath(loss, body) : { ...loss, path: inputPath(loss.path, body) },
    );
    return { ...decoded, dropped, pathOf: named };
  } catch (error) {
    if (!isGatewayError(error) || error.param === undefined) throw error;
    const { message, param } = error;
    const own = inputPath(param, body);
    const rest = message.startsWith(param) ? own + message.slice(param.length) : message;
    throw changedError(error, { message: rest, param: own });
  }
}

/** Path in a body of `input` of a part that Responses has under another name. */
function inputPath(path: string, body: Fields): string {
  const item = /^input\[(\d+)\](.*)$/s.exec(path);
  if (item) return itemPath(Number(item[1]), item[2] ?? '', inputOrigins(body));
  const tool = /^tools\[(\d+)\](\..*)$/s.exec(path);
  if (tool) return `tools[${tool[1]}]${definitionPath(toolAt(body, Number(tool[1])), tool[2] ?? '')}`;
  const limit = body['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens';
  if (path === 'max_output_tokens') return Object.hasOwn(body, path) ? path : limit;
  if (path.startsWith('reasoning.') && !isRecord(body['reasoning'])) return 'reasoning_effort';
  if (!path.startsWith('text.format') || isRecord(body['text'])) return path;
  const rest = path.slice('text.format'.length);
  const isNested = isRecord(body['response_format']) && isRecord(body['response_format']['json_schema']);
  return `response_format${isNested && rest !== '' && rest !== '.type' ? '.json_schema' : ''}${rest}`;
}

/** Path of an item: of the whole message if that has become several. */
function itemPath(at: number, rest: string, origins: readonly number[]): string {
  const origin = origins[at] ?? at;
  const isPart = origins[at - 1] === origin || origins[at + 1] === origin;
  return `input[${origin}]${isPart ? '' : rest}`;
}

function toolAt({ tools }: Fields, at: number): Fields {
  const tool: unknown = Array.isArray(tools) ? tools[at] : undefined;
  return isRecord(tool) ? tool : {};
}

/** Path in the definition of a tool, which Chat nests, and whose schema has another name in Messages. */
function definitionPath(tool: Fields, rest: string): string {
  const nest = ['function', 'custom'].find((name) => tool[name] !== undefined && tool[name] !== null);
  if (nest) return isRecord(tool[nest]) ? `.${nest}${rest}` : `.${nest}`;
  return isRecord(tool['input_schema']) ? rest.replace(/^\.parameters\b/, '.input_schema') : rest;
}
