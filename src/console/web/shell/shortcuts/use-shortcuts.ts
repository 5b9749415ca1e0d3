import { useEffect } from 'preact/hooks';
import { navigate } from '../../state/location.js';
import { refresh } from '../../state/use-resource.js';
import { toast } from '../../state/toasts.js';
import type { Destination } from '../console-page.js';
import { overlay } from '../overlay.js';
import { keepPreference, readPreference } from '../../state/preference.js';
import { createStore } from '../../state/store.js';

/** True on Apple's systems, which use the command key, and Ctrl-K for editing text. */
export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Max time between `g` and the letter of a page. */
const sequenceMs = 1500;

/** Listens for the shortcuts of the console while the shell is shown. */
export function useShortcuts(pages: readonly Destination[]): void {
  useEffect(() => {
    let goUntilMs = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if (opensPalette(event)) return takeOver(event, togglePalette);
      if (!singleKeys.get() || hasModifier(event) || isTaken(event)) return;
      const isGoing = performance.now() < goUntilMs;
      goUntilMs = event.key === 'g' ? performance.now() + sequenceMs : 0;
      const page = isGoing && pages.find(({ key }) => key === event.key);
      const action = page ? () => navigate(page.path) : actions[event.key];
      if (action) takeOver(event, action);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [pages]);
}

const actions: Readonly<Record<string, () => void>> = {
  '?': () => overlay.set('help'),
  '/': focusSearch,
  r() {
    refresh();
    toast('Loaded again.');
  },
};

function opensPalette({ key, metaKey, ctrlKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const isHeld = isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  return isHeld && !altKey && !shiftKey && key.toLowerCase() === 'k';
}

/** Disabled over another dialog, which may hold typed text. */
function togglePalette(): void {
  if (overlay.get() === 'palette') overlay.set(undefined);
  else if (overlay.get() === 'help' || !isDialogOpen()) overlay.set('palette');
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>('main [data-search]');
  if (field?.checkVisibility()) field.focus();
  else overlay.set('palette');
}

function takeOver(event: KeyboardEvent, action: () => void): void {
  event.preventDefault();
  action();
}

/** True for a modifier key other than Shift, which some layouts need for `?` and `/`. */
function hasModifier({ metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
  return metaKey || ctrlKey || altKey;
}

/** True if a key has its own meaning: in a field, and while a dialog is open. */
function isTaken({ target }: KeyboardEvent): boolean {
  if (isDialogOpen()) return true;
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(typedInto));
}

const typedInto = 'textarea, select, input:not([type=radio], [type=checkbox], [type=button])';

function isDialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

const storageKey = 'gw-single-keys';

/** False: single-character shortcuts are switched off, for speech input (WCAG 2.1.4). */
export const singleKeys = createStore(readPreference(storageKey) !== 'off');

export function switchSingleKeys(areOn: boolean): void {
  singleKeys.set(areOn);
  keepPreference(storageKey, areOn ? 'on' : 'off');
}
