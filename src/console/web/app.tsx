import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { fetchSession } from './api/session.js';
import { toPanelError } from './api/panel-error.js';
import { AuditPage } from '../../features/audit/page/audit-page.js';
import { CachePage } from '../../features/cache-ledger/page/cache-page.js';
import { ConnectPage } from '../../features/connect/page/connect-page.js';
import { ExplainPage } from '../../features/explain/page/explain-page.js';
import { KeysPage } from '../../features/keys/page/keys-page.js';
import { LoginPage } from '../../features/login/page/login-page.js';
import { OverviewPage } from '../../features/usage/page/overview-page.js';
import { PlaygroundPage } from '../../features/playground/page/playground-page.js';
import { PipelinePage } from '../../features/pipeline/page/pipeline-page.js';
import { OwnPage } from '../../features/keys/page/own-page.js';
import { OpenedRequestPage } from '../../features/requests/page/opened-request-page.js';
import { RequestsPage } from '../../features/requests/page/requests-page.js';
import { SessionsPage } from '../../features/login/page/sessions-page.js';
import { SlotsPage } from '../../features/slots/page/slots-page.js';
import { TeamsPage } from '../../features/keys/page/teams-page.js';
import { TokensPage } from '../../features/tokens/page/tokens-page.js';
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
    signedIn(await fetchSession());
  } catch (error) {
    // A 401 has led to the login already; other failures are shown by each page.
    if (toPanelError(error).status === 401) return;
    toast(toPanelError(error).message, 'bad');
    signedIn();
  }
}
