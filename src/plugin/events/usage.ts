import type { ModelEvent } from './events.js';
import { mergeUsage } from './fold.js';
import type { Usage } from '../contract/messages.js';
import type { Windows } from '../contract/slot/slot.js';
import type { CallTimer, Trace } from '../contract/trace.js';

/** Sums two usage reports by field, nested counts included; of other values the later one is kept. */
export function addUsage(first: Usage, second: Usage): Usage {
  const sum: Record<string, unknown> = { ...first };
  for (const [field, value] of Object.entries(second)) sum[field] = addField(sum[field], value);
  return sum;
}

function addField(first: unknown, second: unknown): unknown {
  if (typeof first === 'number' && typeof second === 'number') return first + second;
  if (isCounts(first) && isCounts(second)) return addUsage(first, second);
  return second ?? first;
}

/**
 * True for nested counts (`cache_creation`, `output_tokens_details`, `server_tool_use`), which add up as a
 * report does.
 */
function isCounts(value: unknown): value is Usage {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body of `GET /v1/usage`, and of a token count for an OAuth account. */
export function usageBody(account: string, windows: Windows): object {
  return {
    object: 'usage',
    unit: 'percent_used',
    account,
    '5h': windowBody(windows['5h']),
    '7d': windowBody(windows['7d']),
  };
}

function windowBody(window: Windows['5h']): object | null {
  return window && { percent_used: window.percentUsed, resets_at: new Date(window.resetsAtMs).toISOString() };
}

/**
 * Creates a usage meter for each upstream call, to be called with its events; each call is billed to its timer,
 * and the sum of all to the trace.
 */
export function usageMeter(
  trace: Pick<Trace, 'bill'>,
): (timer?: Pick<CallTimer, 'bill'>) => (event: ModelEvent) => void {
  const calls: Usage[] = [];
  return (timer) => {
    const nth = calls.push({}) - 1;
    return (event) => {
      const usage = usageOf(event);
      if (!usage) return;
      const sum = mergeUsage(calls[nth], usage);
      calls[nth] = sum;
      timer?.bill(sum, event.type === 'message_delta');
      trace.bill(calls.length === 1 ? sum : calls.reduce(addUsage, {}));
    };
  };
}

function usageOf(event: ModelEvent): Usage | undefined {
  if (event.type !== 'message_start' && event.type !== 'message_delta') return undefined;
  const { json } = event;
  if (json.type === 'message_start') return json.message.usage;
  return json.type === 'message_delta' ? json.usage : undefined;
}

const fields = ['cache_read_input_tokens', 'cache_creation_input_tokens', 'input_tokens'] as const;

/**
 * Part of a usage report that `tokens` account for: cache reads first, then cache writes, then plain input;
 * never more than reported.
 */
export function maskedPart(usage: Usage, tokens: number): Usage {
  const part: Record<string, number> = {};
  let left = tokens;
  for (const field of fields) {
    const taken = Math.min(left, usage[field] ?? 0);
    left -= taken;
    if (taken > 0) part[field] = taken;
  }
  return part;
}
