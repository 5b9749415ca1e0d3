import type { IconName } from '../../ui/icon.js';

export interface Command {
  readonly id: string;
  readonly group: 'Pages' | 'Actions' | 'Keys' | 'Slots' | 'Requests';
  readonly text: string;
  readonly icon: IconName;
  /** Beside the text: a shortcut, or the last characters of a key. */
  readonly note?: string;
  /** Further words that it is found by. */
  readonly words?: string;
  /** Shown before anything is typed. */
  readonly isAtHand?: boolean;
  readonly run: () => void;
}
