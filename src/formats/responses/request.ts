import type { Decoded, FormatContext } from '../../plugin/index.js';
import type { CallerTool } from '../tools.js';

export interface ResponsesBody {
  readonly model: string;
  readonly input: unknown;
  readonly stream?: boolean | null;
  readonly store?: boolean | null;
  readonly include?: readonly string[] | null;
}

export function decodeResponses(body: unknown, _context: FormatContext): Decoded {
  const { model, stream } = body as ResponsesBody; // a placeholder
  return { request: { model, messages: [] }, stream: stream === true, dropped: [], interceptors: [] };
}

export function toolNames(_body: ResponsesBody): ReadonlyMap<string, CallerTool> {
  return new Map();
}

export function inputItems(body: ResponsesBody, _context: FormatContext): Promise<readonly unknown[]> {
  return Promise.resolve([body.input].flat());
}
