import { keepPreference, readPreference } from './preference.js';
import { createStore } from './store.js';

export type ThemeChoice = 'auto' | 'light' | 'dark';
type Theme = 'light' | 'dark';

const storageKey = 'gw-theme';
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

/** Theme that the operator has chosen. */
export const themeChoice = createStore<ThemeChoice>(readChoice());
/** Theme in force. */
export const theme = createStore<Theme>(themeOf(themeChoice.get()));

systemDark.addEventListener('change', apply);
apply();

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.set(choice);
  keepPreference(storageKey, choice);
  apply();
}

function apply(): void {
  const shown = themeOf(themeChoice.get());
  document.documentElement.dataset['theme'] = shown;
  theme.set(shown);
}

function themeOf(choice: ThemeChoice): Theme {
  if (choice !== 'auto') return choice;
  return systemDark.matches ? 'dark' : 'light';
}

function readChoice(): ThemeChoice {
  const stored = readPreference(storageKey);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}
