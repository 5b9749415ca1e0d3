import type { Decoded, FormatContext } from '../../plugin/index.js';

export interface CompletionsBody {
  readonly model: string;
  readonly prompt: string | readonly string[];
  readonly stream?: boolean | null;
  readonly n?: number | null;
  readonly echo?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
}

export function decodeCompletions(body: unknown, _context: FormatContext): Decoded {
  const { model, prompt, stream } = body as CompletionsBody; // a placeholder
  const content = [prompt].flat()[0] ?? '';
  return {
    request: { model, messages: [{ role: 'user', content }] },
    stream: stream === true,
    dropped: [],
    interceptors: [],
  };
}

export function promptsOf({ prompt }: CompletionsBody): readonly string[] {
  return typeof prompt === 'string' ? [prompt] : prompt;
}
