import { isGatewayError } from './error.js';

/** Max output tokens of a refused request. */
export interface NamedLimit {
  readonly tokens: number;
  /** True if the limit holds for the model; false: only for this request, whose input leaves no more room. */
  readonly isOfModel: boolean;
}

/** Parses the limit that an upstream's 400 or 422 names; undefined if it names none below `wanted` tokens. */
export function namedLimit(error: unknown, wanted: number): NamedLimit | undefined {
  if (!isGatewayError(error) || error.failure?.kind !== 'status') return undefined;
  if (error.failure.status !== 400 && error.failure.status !== 422) return undefined;
  const message = error.message.slice(0, 1000);
  if (!/max_(?:completion_|output_)?tokens|maximum tokens/i.test(message)) return undefined;
  const context = contextLimit.exec(message);
  const named = context
    ? Number(context[2]) - Number(context[1])
    : Number(patterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean));
  const isUsable = Number.isInteger(named) && named > 0 && named < wanted;
  return isUsable ? { tokens: named, isOfModel: !context } : undefined;
}

/** Example: `input length and max_tokens exceed context limit: 188240 + 128000 > 200000` */
const contextLimit = /context limit: (\d{1,9}) \+ \d{1,9} > (\d{1,9})(?!\d)/;

/** Patterns of the limit in upstreams' messages; each matches in linear time. */
const patterns = [
  /max_tokens: \d{1,9} > (\d{1,9})(?!\d)/,
  /\[\d{1,9}, ?(\d{1,9})\]/,
  /(?:at most|up to|limit of|maximum of|maximum value of|less than or equal to|<=) (\d{1,9})(?!\d)/i,
];
