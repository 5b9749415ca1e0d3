import { useAction } from '../../../console/web/state/use-action.js';
import { useResource, type Resource } from '../../../console/web/state/use-resource.js';
import { toast } from '../../../console/web/state/toasts.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Button } from '../../../console/web/ui/button.js';
import { Problem } from '../../../console/web/ui/problem.js';
import type { PartialReload, PartialReloadProps } from '../../pipeline/page/reload-dialog.js';
import { Changes } from '../../../console/web/ui/config-changes.js';
import { count, duration, share } from '../../../console/web/format/numbers.js';
import type { Static } from 'typebox';
import { call } from '../../../console/web/api/call.js';
import type { CanaryStatus as CanaryStatusReport } from '../canary-report.js';
import './canary.css';

type CanaryStatus = Static<typeof CanaryStatusReport>;
type Canary = NonNullable<CanaryStatus['canary']>;
type CanarySide = Canary['candidate'];

const fetchCanary = async (signal?: AbortSignal) =>
  (await call<CanaryStatus>('GET', '/canary', { signal })).canary;
const startCanary = (percent: number) => call<unknown>('POST', '/canary', { body: { percent } });
const commitCanary = () => call<unknown>('POST', '/canary/commit');
const cancelCanary = () => call<CanaryStatus>('POST', '/canary/cancel');

interface RunningCanaryProps {
  readonly resource: Resource<Canary | null>;
  /** Called when the config of the canary has been taken. */
  readonly onTaken: () => void;
}

/** Reload by a canary: starts it, and shows the running one, or the last one if it was rolled back. */
export const canaryReload: PartialReload = { Card: CanaryCard, start: startCanary };

function CanaryCard({ reloads, onTaken }: PartialReloadProps) {
  const resource = useResource(`canary ${reloads}`, fetchCanary, 5000);
  const canary = resource.data;
  if (canary?.state === 'running') return <RunningCanary {...{ canary, resource, onTaken }} />;
  if (canary?.state === 'given_up') return <GivenUpCanary canary={canary} />;
  return null;
}

function RunningCanary({ canary, resource, onTaken }: RunningCanaryProps & { readonly canary: Canary }) {
  const action = useAction();
  const commit = () =>
    action.run(async () => {
      await commitCanary();
      toast('The new config is in force.');
      onTaken();
    });
  const cancel = () =>
    action.run(async () => {
      await cancelCanary();
      toast('The canary was ended. The old config stays in force.');
    });
  const then = (done: Promise<boolean>) => void done.then(() => resource.reload());
  return (
    <section class="card canary" aria-label="Canary">
      <header class="canary-head">
        <h2>Canary</h2>
        <Badge tone="info">{canary.percent} % of new sessions</Badge>
      </header>
      <p class="dim">
        They get the new config, and as many are compared with them. It ends by itself where its errors are
        clearly more.
      </p>
      {!canary.shared && (
        <p role="status">
          <Badge tone="warn" icon="warn">
            Not shared
          </Badge>{' '}
          The other instances could not be reached when it started (Redis was down), so that a session may get
          the other config there. End it and start it again once Redis is back.
        </p>
      )}
      <CanaryFigures canary={canary} />
      <details>
        <summary>Changes</summary>
        <Changes changes={canary.changes} />
      </details>
      {action.error && <Problem error={action.error} />}
      <footer class="canary-foot">
        <Button changes busy={action.isBusy} onClick={() => then(cancel())}>
          End it
        </Button>
        <Button tone="primary" changes busy={action.isBusy} onClick={() => then(commit())}>
          Take it for all
        </Button>
      </footer>
    </section>
  );
}

function GivenUpCanary({ canary }: { readonly canary: Canary }) {
  return (
    <section class="card canary" aria-label="Canary">
      <header class="canary-head">
        <h2>Canary</h2>
        <Badge tone="bad" icon="warn">
          given up
        </Badge>
      </header>
      <p>The errors of the new config were clearly more. The old config stays in force.</p>
      <CanaryFigures canary={canary} />
      <details>
        <summary>Changes</summary>
        <Changes changes={canary.changes} />
      </details>
    </section>
  );
}

const rows: readonly (readonly [name: string, value: (side: CanarySide) => string])[] = [
  ['Requests', ({ requests }) => count(requests)],
  ['Errors', ({ requests, errors }) => `${count(errors)} (${share(errors, requests)})`],
  ['Sessions with an error', ({ failed_sessions: failed }) => count(failed)],
  ['First token, p50', ({ first_token_ms: { p50 } }) => time(p50)],
  ['First token, p95', ({ first_token_ms: { p95 } }) => time(p95)],
  ['Added tokens a request', ({ added_tokens: added }) => count(added)],
];

function time(ms: number | null): string {
  return ms === null ? '–' : duration(ms);
}

/** Figures of both variants, side by side. */
function CanaryFigures({ canary: { candidate, control } }: { readonly canary: Canary }) {
  return (
    <table class="table canary-figures">
      <thead>
        <tr>
          <th scope="col">
            <span class="sr-only">Figure</span>
          </th>
          <th scope="col" class="num">
            New config
          </th>
          <th scope="col" class="num">
            Old config
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="num">{value(candidate)}</td>
            <td class="num">{value(control)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
