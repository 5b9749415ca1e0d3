import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { fetchSession } from './api/session.js';
import { toConsoleError } from './api/call.js';
import type { ConsolePage } from './shell/console-page.js';
import type { UseCommands } from './shell/palette/command.js';
import { Shell } from './shell/shell.js';
import { navigate, usePlace } from './state/location.js';
import { pageUrlAt, usePluginPages } from './state/plugin-pages.js';
import { session, signedIn } from './state/session.js';
import { useStore } from './state/store.js';
import { toast, dropToast, toasts } from './state/toasts.js';
import { Empty } from './ui/empty.js';
import { Link } from './ui/link.js';
import { basePath } from './state/base-path.js';
import { Loaded, Skeleton } from './ui/loaded.js';
import { Page } from './ui/page.js';
import { Button } from './ui/button.js';
import { Icon } from './ui/icon.js';
import './state/theme.js';

interface AppProps {
  /** Page without a session; absent if nobody can sign in. */
  readonly login?: ComponentType;
  /** All pages of the console, in the order of the navigation. */
  readonly pages: readonly ConsolePage[];
  /** Commands that features bring to the palette. */
  readonly commands: readonly UseCommands[];
}

/** The login page without a session, else the page of the current path. */
export function App({ login: Login, pages, commands }: AppProps) {
  const state = useStore(session);
  const { path, query } = usePlace();
  useEffect(() => void findSession(), []);
  useLoginDetour(state === 'out', path, query);
  return (
    <>
      {state === 'out' && Login && <Login />}
      {state === 'in' && path !== '/login' && (
        <Shell path={path} pages={pages} commands={commands}>
          <Content path={path} pages={pages} />
        </Shell>
      )}
      <Toaster />
    </>
  );
}

interface ContentProps {
  readonly path: string;
  readonly pages: readonly ConsolePage[];
}

function Content({ path, pages }: ContentProps) {
  const pluginPage = pageUrlAt(path);
  if (pluginPage !== undefined) return <PluginPage url={pluginPage} />;
  const Found = pages.find((page) => page.path === path)?.component;
  if (Found) return <Found />;
  const [, parent, id] = /^(\/[^/]+)\/([^/]+)$/.exec(path) ?? [];
  const Item = pages.find((page) => page.path === parent)?.item;
  if (Item && id !== undefined) return <Item id={decodeURIComponent(id)} />;
  return (
    <Empty icon="search" title="Page not found">
      <Link to="/">Go to the overview</Link>
    </Empty>
  );
}

/** Redirects to `/login?next=…` when the session ends, and back to `next` after a login. */
function useLoginDetour(isOut: boolean, path: string, query: URLSearchParams): void {
  const search = query.toString();
  useEffect(() => {
    if (!isOut || path === '/login') return;
    const next = `${path}${search && `?${search}`}`;
    navigate(next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`, { replace: true });
  }, [isOut, path, search]);
  const isIn = useStore(session) === 'in';
  useEffect(() => {
    if (!isIn || path !== '/login') return;
    const next = query.get('next') ?? '/';
    navigate(next.startsWith('/') ? next : '/', { replace: true });
  }, [isIn, path]);
}

async function findSession(): Promise<void> {
  try {
    signedIn(await fetchSession());
  } catch (error) {
    // A 401 has led to the login already; other failures are shown by each page.
    if (toConsoleError(error).status === 401) return;
    toast(toConsoleError(error).message, 'bad');
    signedIn();
  }
}

/** A plugin's own page, in a frame whose scripts cannot reach the console. */
function PluginPage({ url }: { readonly url: string }) {
  const pages = usePluginPages();
  const title = pages.data?.find((page) => page.url === url);
  return (
    <Loaded resource={pages} skeleton={<Skeleton rows={8} height={40} />}>
      {() => (title ? <Framed title={title.title} stage={title.stage} url={url} /> : <NoPage />)}
    </Loaded>
  );
}

interface FramedProps {
  readonly title: string;
  readonly stage: string;
  readonly url: string;
}

function Framed({ title, stage, url }: FramedProps) {
  return (
    <Page title={title} lead={`A page of the stage ${stage}.`}>
      <iframe
        class="card plugin-frame"
        title={title}
        src={basePath + url}
        sandbox="allow-scripts allow-forms"
      />
    </Page>
  );
}

function NoPage() {
  return (
    <Empty icon="search" title="Page not found">
      <Link to="/pipeline">No stage of the pipeline brings it</Link>
    </Empty>
  );
}

/** Messages about finished actions, in a corner; screen readers announce them politely. */
function Toaster() {
  const shown = useStore(toasts);
  return (
    <div class="toaster" role="status" aria-live="polite">
      {shown.map(({ id, tone, text }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <Icon name={tone === 'ok' ? 'check' : 'warn'} />
          <span>{text}</span>
          <Button small tone="quiet" icon="close" label="Dismiss" onClick={() => dropToast(id)} />
        </div>
      ))}
    </div>
  );
}
