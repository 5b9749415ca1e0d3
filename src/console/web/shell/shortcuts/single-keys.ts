import { keepPreference, readPreference } from '../../state/preference.js';
import { createStore } from '../../state/store.js';

const storageKey = 'gw-single-keys';

/** False: shortcuts of one character are switched off, as speech input needs it (WCAG 2.1.4). */
export const singleKeys = createStore(readPreference(storageKey) !== 'off');

export function switchSingleKeys(areOn: boolean): void {
  singleKeys.set(areOn);
  keepPreference(storageKey, areOn ? 'on' : 'off');
}
