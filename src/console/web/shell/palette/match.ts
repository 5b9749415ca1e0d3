import type { Command } from './command.js';

/** Max commands shown of one group. */
const maxOfGroup = 6;

/**
 * Commands that have every word of `text`, in any order, group by group; names that begin with the text come first.
 * Without a text: those that are always available.
 */
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? commands.filter(({ isAtHand }) => isAtHand) : hits(commands, words);
  const taken = new Map<string, number>();
  return found.filter(({ group, isAtHand }) => {
    const count = (taken.get(group) ?? 0) + 1;
    taken.set(group, count);
    return (words.length === 0 && isAtHand) || count <= maxOfGroup;
  });
}

function hits(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  const order = new Map<string, number>();
  const scored = commands.flatMap((command) => {
    if (!order.has(command.group)) order.set(command.group, order.size);
    const score = scoreOf(command, words);
    return score === undefined ? [] : [{ command, score, place: order.get(command.group) ?? 0 }];
  });
  return scored.toSorted((a, b) => a.place - b.place || a.score - b.score).map(({ command }) => command);
}

/** Lower is better; undefined: a word is missing. */
function scoreOf({ text, words: more = '' }: Command, words: readonly string[]): number | undefined {
  const name = text.toLowerCase();
  const all = `${name} ${more.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return undefined;
  const first = words[0] ?? '';
  if (name.startsWith(first)) return 0;
  if (name.includes(` ${first}`)) return 1;
  return name.includes(first) ? 2 : 3;
}
