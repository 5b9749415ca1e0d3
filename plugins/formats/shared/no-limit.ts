import { isRecord } from './body.js';

const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'top_k'] as const;

/** A body without limits of -1, by which clients of llama.cpp and LM Studio mean "no limit". */
export function withoutNoLimits(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const absent = limits.filter((name) => body[name] === -1);
  if (absent.length === 0) return body;
  const limited: Record<string, unknown> = { ...body };
  for (const name of absent) delete limited[name];
  return limited;
}
