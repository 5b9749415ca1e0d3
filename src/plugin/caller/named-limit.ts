import { isGatewayError } from '../contract/error.js';

/** Max output tokens of a refused request. */
export interface NamedLimit {
  readonly tokens: number;
  /** True if the limit is the model's; false: only this request's, whose input leaves no more room. */
  readonly isOfModel: boolean;
}

/** Parses the limit that an upstream's 400 or 422 names; undefined if it names none below `wanted` tokens. */
export function namedLimit(error: unknown, wanted: number): NamedLimit | undefined {
  if (!isGatewayError(error) || error.failure?.kind !== 'status') return undefined;
  if (error.failure.status !== 400 && error.failure.status !== 422) return undefined;
  const message = error.message.slice(0, 1000);
  const room = roomIn(message);
  if (room !== undefined) return within({ tokens: room, isOfModel: false }, wanted);
  if (!/max_(?:completion_|output_)?tokens|maximum tokens/i.test(message)) return undefined;
  const named = Number(patterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean));
  return within({ tokens: named, isOfModel: true }, wanted);
}

function within(limit: NamedLimit, wanted: number): NamedLimit | undefined {
  const { tokens } = limit;
  return Number.isInteger(tokens) && tokens > 0 && tokens < wanted ? limit : undefined;
}

/** Tokens of the context that an input leaves; undefined if they are not named. */
function roomIn(message: string): number | undefined {
  const groups = rooms.map((pattern) => pattern.exec(message)?.groups).find(Boolean);
  if (!groups) return undefined;
  const { context, input = 0, all = 0, output = 0 } = groups;
  return Number(context) - Number(input) - (Number(all) - Number(output));
}

/** Patterns of a context and of the input in it; each matches in linear time. */
const rooms = [
  /context limit: (?<input>\d{1,9}) \+ \d{1,9} > (?<context>\d{1,9})(?!\d)/,
  /\(\d{1,9} > (?<context>\d{1,9}) - (?<input>\d{1,9})\)/, // vLLM
  // OpenAI, OpenRouter, earlier versions of vLLM
  /context length is (?<context>\d{1,9}) tokens\. However, you requested (?:about )?(?<all>\d{1,9}) tokens \([^()]{0,120}?\b(?<output>\d{1,9}) (?:in|for) the (?:completion|output)/,
];

/** Patterns of the limit in upstreams' messages; each matches in linear time. */
const patterns = [
  /max_tokens: \d{1,9} > (\d{1,9})(?!\d)/,
  /\[\d{1,9}, ?(\d{1,9})\]/,
  /(?:at most|up to|limit of|maximum of|maximum value of|less than or equal to|<=) ['"`]?(\d{1,9})(?!\d)/i,
];
