import type { ComponentChildren } from 'preact';
import type { CacheLoss, OpenedRequest } from '../../../console/web/api/ledger.js';
import { lossInWords } from '../../../console/web/format/cache-words.js';
import { compact, duration } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import { codeInWords, formatWords, statusInWords } from '../../../console/web/format/words.js';
import { useNames } from '../../../console/web/scope/names.js';
import { withScope } from '../../../console/web/scope/scope.js';
import { pathOfRequest, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { CopyButton } from '../../../console/web/ui/copy-button.js';
import { Facts } from '../../../console/web/ui/facts.js';
import { Icon } from '../../../console/web/ui/icon.js';
import { Link } from '../../../console/web/ui/link.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Card, Page } from '../../../console/web/ui/page.js';
import { Time } from '../../../console/web/ui/time.js';
import { Additions, StageTimes } from './stage-tables.js';
import { Calls } from './calls.js';
import { StageCalls } from './stage-calls.js';
import { ErrorTextCard } from './error-text-card.js';
import { LedgerTable } from './ledger-table.js';
import { Outcome } from './request-columns.js';
import { readWritten } from './api.js';

/** Page of one request: its times, its upstream calls and its tokens. */
export function OpenedRequestPage({ id }: { readonly id: string }) {
  const request = useResource(id, (signal) => readWritten(id, signal));
  return (
    <Page
      title="Request"
      lead={<span class="mono">{request.data?.request_id ?? id}</span>}
      actions={<WaysOn row={request.data} />}
    >
      <Loaded resource={request} skeleton={<OpenedSkeleton />}>
        {(row) => (
          <>
            <Verdict row={row} />
            <ErrorTextCard row={row} />
            <div class="opened">
              <div>
                <Card title="What it was">
                  <Facts facts={factsOf(row)} />
                </Card>
                <Card title="Time in each stage" aside={<Aside>{duration(row.duration_ms)} in all</Aside>}>
                  <StageTimes row={row} />
                </Card>
              </div>
              <div>
                <Card title="Upstream calls" aside={<Aside>{row.attempts} made</Aside>}>
                  <Calls row={row} />
                </Card>
                {row.label === null && <StageCalls row={row} />}
                <Card title="Tokens">
                  <LedgerTable
                    billed={row.billed}
                    shown={row.shown}
                    cost={row.cost}
                    isEstimated={row.estimated}
                  />
                </Card>
                {row.additions.length > 0 && (
                  <Card title="Added by stages">
                    <Additions additions={row.additions} />
                  </Card>
                )}
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Links to the explanation of a similar request, and back to the list. */
function WaysOn({ row }: { readonly row: OpenedRequest | undefined }) {
  const place = usePlace();
  return (
    <>
      <Link to={row ? explainLink(row) : '/explain'} class="button button-plain">
        <Icon name="search" size={16} />
        Explain one like it
      </Link>
      <Link to={withScope('/requests', place)} class="button button-plain">
        <Icon name="back" size={16} />
        All requests
      </Link>
    </>
  );
}

/** Link to explain a request of the same format, model and key, since the gateway keeps no texts. */
function explainLink({ format, model, key }: OpenedRequest): string {
  const query = new URLSearchParams({ format, ...(model && { model }), ...(key && { key: key.id }) });
  return `/explain?${query.toString()}`;
}

function Aside({ children }: { readonly children: ComponentChildren }) {
  return <span class="dim num">{children}</span>;
}

/** Outcome of the request in words. */
function Verdict({ row }: { readonly row: OpenedRequest }) {
  const { status, code, failed } = row;
  const text = code ? codeInWords(code) : statusInWords(status);
  const tone = status >= 500 || (failed && status < 400) ? 'bad' : status >= 400 ? 'warn' : 'ok';
  return (
    <div class={`outcome-box outcome-box-${tone}`}>
      <Outcome row={row} />
      <p>{text}</p>
    </div>
  );
}

function factsOf(row: OpenedRequest): readonly { name: string; value: ComponentChildren }[] {
  const { key, slot, model } = row;
  const first = row.first_event_ms;
  return [
    { name: 'Came', value: <Time at={row.at} long /> },
    { name: 'Request id', value: <WithCopy text={row.request_id} what="the request id" /> },
    { name: 'Ledger id', value: <WithCopy text={row.id} what="the ledger id" /> },
    {
      name: 'Key',
      value: key ? <Filter name="key" value={key.id} text={key.name ?? key.id} /> : 'Master key, or none',
    },
    { name: 'Model', value: model ? <Filter name="model" value={model} text={model} /> : 'none' },
    ...(row.answered_by ? [{ name: 'Answered by', value: row.answered_by }] : []),
    {
      name: 'Format',
      value: `${formatWords[row.format] ?? row.format}, ${row.streamed ? 'streamed' : 'in one piece'}`,
    },
    { name: 'Pipeline', value: <Filter name="pipeline" value={row.pipeline} text={row.pipeline} /> },
    { name: 'Slot', value: slot ? <Filter name="slot" value={slot} text={slot} /> : 'none' },
    { name: 'First event', value: first === null ? 'none came' : `after ${duration(first)}` },
    { name: 'Duration', value: duration(row.duration_ms) },
    ...callFacts(row),
    ...workFacts(row),
    ...(row.cache ? [{ name: 'Prompt cache', value: <Lost cache={row.cache} /> }] : []),
    ...Object.entries(row.tags).map(([tag, value]) => ({ name: `Tag ${tag}`, value })),
  ];
}

/** Purpose of a call that a stage made itself, and its request. */
function callFacts({ label, parent }: OpenedRequest): readonly { name: string; value: ComponentChildren }[] {
  return [
    ...(label === null
      ? []
      : [{ name: 'Call of a stage', value: <Filter name="label" value={label} text={label} /> }]),
    ...(parent === null
      ? []
      : [{ name: 'Made for', value: <Link to={pathOfRequest(parent)}>the request of a caller</Link> }]),
  ];
}

/** Waiting, writing, session and team: facts that not every request has. */
function workFacts(row: OpenedRequest): readonly { name: string; value: ComponentChildren }[] {
  const { queue_ms: queue, output_ms: output, session, team, billed } = row;
  const perToken = output !== null && billed.output > 1 ? output / (billed.output - 1) : undefined;
  return [
    ...(queue === null ? [] : [{ name: 'In the queue', value: duration(queue) }]),
    ...(output === null ? [] : [{ name: 'Writing', value: duration(output) }]),
    ...(perToken === undefined ? [] : [{ name: 'Per output token', value: duration(perToken) }]),
    ...(session === null
      ? []
      : [
          {
            name: 'Session',
            value: <Filter name="session" value={session} text={`All requests of ${session}`} />,
          },
        ]),
    ...(team === null ? [] : [{ name: 'Team', value: <TeamFilter id={team} /> }]),
  ];
}

/** Cause of a turn that lost its cache, with its cost. */
function Lost({ cache }: { readonly cache: CacheLoss }) {
  const cost = cache.lost_usd === null ? '' : `, ${usd(cache.lost_usd)}`;
  return (
    <Link to="/cache">{`${lossInWords(cache)}: ${compact(cache.lost_tokens)} tokens paid again${cost}`}</Link>
  );
}

function Filter({
  name,
  value,
  text,
}: {
  readonly name: string;
  readonly value: string;
  readonly text: string;
}) {
  return <Link to={`/requests?${name}=${encodeURIComponent(value)}`}>{text}</Link>;
}

function TeamFilter({ id }: { readonly id: string }) {
  const nameOf = useNames('teams', true);
  return <Filter name="team" value={id} text={nameOf(id)} />;
}

function WithCopy({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span class="with-copy">
      <span class="mono">{text}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}

function OpenedSkeleton() {
  return (
    <div class="opened">
      {['facts', 'calls', 'stages', 'tokens'].map((card) => (
        <div class="card" key={card}>
          <Skeleton rows={6} height={28} />
        </div>
      ))}
    </div>
  );
}
