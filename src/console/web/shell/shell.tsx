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
import { SearchButton } from './search-button.js';
import { HelpSheet } from './shortcuts/help-sheet.js';
import { useShortcuts } from './shortcuts/use-shortcuts.js';
import { SignedInAs } from './signed-in-as.js';
import { SignOut } from './sign-out.js';
import { ThemeSwitch } from './theme-switch.js';

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
