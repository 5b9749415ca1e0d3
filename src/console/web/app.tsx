import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { panel } from './api/panel.js';
import { toPanelError } from './api/panel-error.js';
import { AuditPage } from './pages/audit/audit-page.js';
import { CachePage } from './pages/cache/cache-page.js';
import { ConnectPage } from './pages/connect/connect-page.js';
import { ExplainPage } from './pages/explain/explain-page.js';
import { KeysPage } from './pages/keys/keys-page.js';
import { LoginPage } from './pages/login/login-page.js';
import { OverviewPage } from './pages/overview/overview-page.js';
import { PlaygroundPage } from './pages/playground/playground-page.js';
import { PipelinePage } from './pages/pipeline/pipeline-page.js';
import { OwnPage } from './pages/own/own-page.js';
import { OpenedRequestPage } from './pages/requests/opened-request-page.js';
import { RequestsPage } from './pages/requests/requests-page.js';
import { SessionsPage } from './pages/sessions/sessions-page.js';
import { SlotsPage } from './pages/slots/slots-page.js';
import { TeamsPage } from './pages/teams/teams-page.js';
import { TokensPage } from './pages/tokens/tokens-page.js';
import { Shell } from './shell/shell.js';
import { navigate, usePlace } from './state/location.js';
import { pageUrlAt } from './state/plugin-pages.js';
import { session, signedIn } from './state/session.js';
import { useStore } from './state/store.js';
import { toast } from './state/toasts.js';
import { Empty } from './ui/empty.js';
import { Link } from './ui/link.js';
import { Toaster } from './toaster.js';

const pages: Readonly<Record<string, ComponentType>> = {
  '/': OverviewPage,
  '/slots': SlotsPage,
  '/keys': KeysPage,
  '/sessions': SessionsPage,
  '/teams': TeamsPage,
  '/requests': RequestsPage,
  '/cache': CachePage,
  '/pipeline': PipelinePage,
  '/explain': ExplainPage,
  '/playground': PlaygroundPage,
  '/connect': ConnectPage,
  '/audit': AuditPage,
  '/tokens': TokensPage,
};

/** The login page without a session, else the page of the current path. */
export function App() {
  const state = useStore(session);
  const { path, query } = usePlace();
  useEffect(() => void findSession(), []);
  useLoginDetour(state === 'out', path, query);
  return (
    <>
      {state === 'out' && <LoginPage />}
      {state === 'in' && path !== '/login' && (
        <Shell path={path}>
          <Content path={path} />
        </Shell>
      )}
      <Toaster />
    </>
  );
}

function Content({ path }: { readonly path: string }) {
  const [, request] = /^\/requests\/([^/]+)$/.exec(path) ?? [];
  if (request !== undefined) return <OpenedRequestPage id={decodeURIComponent(request)} />;
  const pluginPage = pageUrlAt(path);
  if (pluginPage !== undefined) return <OwnPage url={pluginPage} />;
  const Found = pages[path];
  if (Found) return <Found />;
  return (
    <Empty icon="search" title="There is no such page">
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
    signedIn(await panel.session());
  } catch (error) {
    // A 401 has led to the login already; other failures are shown by each page.
    if (toPanelError(error).status === 401) return;
    toast(toPanelError(error).message, 'bad');
    signedIn();
  }
}
