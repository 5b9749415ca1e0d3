import { useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { useIsViewer } from '../../../console/web/state/session.js';
import { Button } from '../../../console/web/ui/button.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import { Page } from '../../../console/web/ui/page.js';
import { Problem } from '../../../console/web/ui/problem.js';
import { RequestForm, type GivenRequest } from '../../../console/web/request-form/request-form.js';
import { RunView } from './run-view.js';
import { usePlayground } from './use-playground.js';
import { basePath } from '../../../console/web/state/base-path.js';
import './playground.css';

export const playgroundPage: ConsolePage = {
  path: '/playground',
  title: 'Playground',
  group: 'Gateway',
  icon: 'play',
  words: 'run try request stream curl',
  component: PlaygroundPage,
};

/** Page that runs a request as a key, and shows its progress live. */
function PlaygroundPage() {
  const { run, stop, ...state } = usePlayground();
  const [call, setCall] = useState<GivenRequest>();
  const isViewer = useIsViewer();
  const begin = (next: GivenRequest): void => {
    setCall(next);
    run(next);
  };
  return (
    <Page
      title="Playground"
      lead="Runs a real request as a key of your choice: it counts against the limits of the key and appears in the ledger and the audit log."
    >
      {isViewer ? (
        <p class="dim">Admins alone run requests.</p>
      ) : (
        <RequestForm verb="Run" needsKey isBusy={state.isRunning} onSend={begin} />
      )}
      {call && (
        <div class="table-tools run-tools">
          {state.isRunning && (
            <Button icon="stop" onClick={stop}>
              Stop
            </Button>
          )}
          <span class="dim">The same as a curl command:</span>
          <CopyButton text={curlOf(call)} what="the request as curl" words />
        </div>
      )}
      {state.problem && <Problem error={state.problem} />}
      {call && !state.problem && <RunView state={state} />}
    </Page>
  );
}

/** A command that sends the same request from elsewhere, with the key in a variable. */
function curlOf({ post, headers, body }: GivenRequest): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = [
    `curl ${quoted(window.location.origin + basePath + post)}`,
    '-H "Authorization: Bearer $GW_KEY"',
    "-H 'content-type: application/json'",
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(text)}`,
  ];
  return lines.join(' \\\n  ');
}

/** Text in single quotes of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
