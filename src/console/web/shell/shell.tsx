import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../ui/icon.js';
import { Link } from '../ui/link.js';
import { Logo } from '../ui/logo.js';
import { pathOfPage, usePluginPages } from '../state/plugin-pages.js';
import { LiveStatus } from './live-status.js';
import { SignOut } from './sign-out.js';
import { ThemeSwitch } from './theme-switch.js';

const destinations: readonly { readonly to: string; readonly text: string; readonly icon: IconName }[] = [
  { to: '/', text: 'Overview', icon: 'overview' },
  { to: '/slots', text: 'Slots', icon: 'slots' },
  { to: '/keys', text: 'Keys', icon: 'keys' },
  { to: '/requests', text: 'Requests', icon: 'requests' },
  { to: '/pipeline', text: 'Pipeline', icon: 'pipeline' },
  { to: '/explain', text: 'Explain', icon: 'search' },
  { to: '/connect', text: 'Connect', icon: 'connect' },
];

/** Frame of every page: a navigation bar at the side, on a phone at the bottom. */
export function Shell({ path, children }: { readonly path: string; readonly children: ComponentChildren }) {
  const main = useFocusOnNewPage(path);
  const { data: pages = [] } = usePluginPages();
  const own = pages.map((page) => ({ to: pathOfPage(page), text: page.title, icon: 'file' as const }));
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
        <nav class="nav" aria-label="Pages">
          {[...destinations, ...own].map(({ to, text, icon }) => (
            <Link key={to} to={to} current={isAt(path, to)}>
              <Icon name={icon} size={20} />
              <span>{text}</span>
            </Link>
          ))}
        </nav>
        <LiveStatus />
        <div class="bar-foot">
          <ThemeSwitch />
          <SignOut />
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
    </div>
  );
}

function isAt(path: string, to: string): boolean {
  return path === to || (to !== '/' && path.startsWith(`${to}/`));
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
