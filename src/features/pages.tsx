import { render } from 'preact';
import { App } from '../console/web/app.js';
import type { ConsolePage } from '../console/web/shell/console-page.js';
import type { UseCommands } from '../console/web/shell/palette/command.js';
import { auditPage } from './audit/page/audit-page.js';
import { cachePage } from './cache-ledger/page/cache-page.js';
import { canaryReload } from './canary/page/canary-card.js';
import { connectPage } from './connect/page/connect-page.js';
import { explainPage } from './explain/page/explain-page.js';
import { useKeyCommands, keysPage } from './keys/page/keys-page.js';
import { teamsPage } from './keys/page/teams-page.js';
import { LoginPage } from './login/page/login-page.js';
import { sessionsPage } from './login/page/sessions-page.js';
import { pipelinePage, usePipelineCommands } from './pipeline/page/pipeline-page.js';
import { playgroundPage } from './playground/page/playground-page.js';
import { requestsPage, useRequestCommands } from './requests/page/requests-page.js';
import { useSlotCommands, slotsPage } from './slots/page/slots-page.js';
import { tokensPage } from './tokens/page/tokens-page.js';
import { overviewPage } from './usage/page/overview-page.js';

/** Pages of the features, in the order of the navigation. */
const pages: readonly ConsolePage[] = [
  overviewPage,
  requestsPage,
  cachePage,
  slotsPage,
  keysPage,
  sessionsPage,
  teamsPage,
  tokensPage,
  auditPage,
  pipelinePage([canaryReload]),
  explainPage,
  playgroundPage,
  connectPage,
];

const commands: readonly UseCommands[] = [
  useKeyCommands,
  useRequestCommands,
  usePipelineCommands,
  useSlotCommands,
];

const root = document.querySelector('#app');
if (root) render(<App login={LoginPage} pages={pages} commands={commands} />, root);
