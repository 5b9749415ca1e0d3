import { useStore } from '../state/store.js';
import { chooseTheme, themeChoice, type ThemeChoice } from '../state/theme.js';
import { Button } from '../ui/button.js';
import type { IconName } from '../ui/icon.js';

const choices: Readonly<Record<ThemeChoice, { icon: IconName; text: string; next: ThemeChoice }>> = {
  auto: { icon: 'auto', text: 'Colours: as the system', next: 'light' },
  light: { icon: 'sun', text: 'Colours: light', next: 'dark' },
  dark: { icon: 'moon', text: 'Colours: dark', next: 'auto' },
};

export function ThemeSwitch() {
  const { icon, text, next } = choices[useStore(themeChoice)];
  return <Button tone="quiet" icon={icon} label={text} onClick={() => chooseTheme(next)} />;
}
