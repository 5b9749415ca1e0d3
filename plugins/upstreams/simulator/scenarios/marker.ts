import type { ContentBlock, MessagesRequest, TextBlock } from '@gw2api/gateway/plugin';

/** One `[[sim:NAME key=value …]]`: a scenario that the caller requests of the simulator. */
export interface Scenario {
  readonly name: string;
  /** `[[sim:echo=system]]` gives `echo` the parameter `echo: "system"`. */
  readonly params: Readonly<Record<string, string>>;
  /** Text of the marker, without its brackets. */
  readonly text: string;
}

/** Without nested brackets, so that each search ends at the next opening. */
const marker = /\[\[sim:([^[\]]*)\]\]/g;
const word = /([\w.-]+)(?:=(?:"([^"]*)"|(\S+)))?/g;

/** The scenarios that a text asks for, in order. */
export function findScenarios(text: string): readonly Scenario[] {
  return [...text.matchAll(marker)].map(([, inside = '']) => parseScenario(inside));
}

/** `429 retry-after=2`: a name, then parameters; a value with spaces stands in double quotes. */
export function parseScenario(text: string): Scenario {
  const words = [...text.matchAll(word)].map(
    ([, key = '', quoted, plain]) => [key, quoted ?? plain ?? ''] as const,
  );
  const [first, ...rest] = words;
  const name = first?.[0] ?? '';
  return { name, params: Object.fromEntries(first?.[1] ? words : rest), text: text.trim() };
}

export function withoutMarkers(text: string): string {
  return text.replaceAll(marker, '').trim();
}

/** The text blocks of the last user message, one a line; empty if it has none. */
export function lastUserText({ messages }: Pick<MessagesRequest, 'messages'>): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return typeof content === 'string'
    ? content
    : content
        .filter(isText)
        .map(({ text }) => text)
        .join('\n');
}

/** A scenario's parameter as a number of at least 0; `fallback` if it is absent or invalid. */
export function numberOf(params: Scenario['params'], name: string, fallback: number): number {
  const value = Number(params[name] ?? fallback);
  return Number.isFinite(value) && value >= 0 ? value : fallback;
}

function isText(block: ContentBlock): block is TextBlock {
  return block.type === 'text' && typeof block.text === 'string';
}
