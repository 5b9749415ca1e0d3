import type { IconName } from '../../ui/icon.js';

/** Groups of the palette, in its order. */
export const commandGroups = ['Pages', 'Actions', 'Keys', 'Slots', 'Requests'] as const;

export interface Command {
  readonly id: string;
  readonly group: (typeof commandGroups)[number];
  readonly text: string;
  readonly icon: IconName;
  /** Beside the text: a shortcut, or the last characters of a key. */
  readonly note?: string;
  /** Further search words. */
  readonly words?: string;
  /** True for a command that is shown before anything is typed. */
  readonly isAtHand?: boolean;
  readonly run: () => void;
}

/** Hook that returns the commands of a feature; loaded ones follow later. */
export type UseCommands = () => readonly Command[];

/** An action, available before anything is typed. */
export function action(text: string, icon: IconName, run: () => void, words: string): Command {
  return { id: text, group: 'Actions', text, icon, words, isAtHand: true, run };
}
