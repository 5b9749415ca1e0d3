import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../state/store.js';
import { Link } from '../ui/link.js';
import { Logo } from '../ui/logo.js';
import type { ConsolePage } from './console-page.js';
import { LiveStatus } from './live-status.js';
import { Navigation } from './navigation.js';
import { overlay } from './overlay.js';
import type { UseCommands } from './palette/command.js';
import { Palette } from './palette/palette.js';
import { HelpSheet } from './shortcuts/help-sheet.js';
import { useShortcuts, isMac } from './shortcuts/use-shortcuts.js';
import { SignOut } from './sign-out.js';
import { Icon, type IconName } from '../ui/icon.js';
import { nameOf } from '../format/person.js';
import { adminsOnly, ownSession } from '../state/session.js';
import { Badge } from '../ui/badge.js';
import { chooseTheme, themeChoice, type ThemeChoice } from '../state/theme.js';
import { Button } from '../ui/button.js';

interface ShellProps {
  readonly path: string;
  readonly pages: readonly ConsolePage[];
  readonly commands: readonly UseCommands[];
  readonly children: ComponentChildren;
}

/** Frame of every page: a navigation bar at the side, on a phone at the bottom. */
export function Shell({ path, pages, commands, children }: ShellProps) {
  const main = useFocusOnNewPage(path);
  const open = useStore(overlay);
  useShortcuts(pages);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <Link to="/" class="brand" label="gw2api, overview">
          <Logo />
          <span>gw2api</span>
        </Link>
        <SearchButton />
        <Navigation path={path} pages={pages} />
        <LiveStatus />
        <SignedInAs />
        <div class="bar-foot">
          <ThemeSwitch />
          <SignOut />
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      {open === 'palette' && <Palette pages={pages} commands={commands} />}
      {open === 'help' && <HelpSheet pages={pages} />}
    </div>
  );
}

/** Moves the focus to the start of a new page, for screen readers; the first page keeps the focus. */
function useFocusOnNewPage(path: string) {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [path]);
  return main;
}

/** Opens the command palette, for people who do not know its shortcut. */
function SearchButton() {
  return (
    <button
      type="button"
      class="search-button"
      aria-haspopup="dialog"
      aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
      onClick={() => overlay.set('palette')}
    >
      <Icon name="search" size={17} />
      <span>Search</span>
      <kbd aria-hidden="true">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
    </button>
  );
}

/** Name and role of the person at this page. */
function SignedInAs() {
  const own = useStore(ownSession);
  if (!own) return null;
  const { actor } = own;
  return (
    <p class="signed-in-as">
      <Link to="/sessions" class="signed-in-name" title={nameOf(actor)}>
        {nameOf(actor)}
      </Link>
      {actor.role === 'viewer' ? (
        <Badge tone="info" icon="lock" title={adminsOnly}>
          viewer
        </Badge>
      ) : (
        <Badge tone="idle">admin</Badge>
      )}
    </p>
  );
}

const choices: Readonly<Record<ThemeChoice, { icon: IconName; text: string; next: ThemeChoice }>> = {
  auto: { icon: 'auto', text: 'Colours: as the system', next: 'light' },
  light: { icon: 'sun', text: 'Colours: light', next: 'dark' },
  dark: { icon: 'moon', text: 'Colours: dark', next: 'auto' },
};

function ThemeSwitch() {
  const { icon, text, next } = choices[useStore(themeChoice)];
  return <Button tone="quiet" icon={icon} label={text} onClick={() => chooseTheme(next)} />;
}
