import { useEffect } from 'preact/hooks';
import { fetchStatus, status as lastStatus, type Status } from '../state/status.js';
import { counted } from '../format/numbers.js';
import { useResource } from '../state/use-resource.js';

/** Health of the gateway, shown on every page. */
export function LiveStatus() {
  const { data, error } = useResource('status', fetchStatus, 3000);
  useEffect(() => lastStatus.set(data), [data]);
  return (
    <div class="live-status">
      {data && !error ? (
        <Healthy status={data} />
      ) : (
        <Line tone="bad" text={error ? 'No connection' : 'Connecting'} />
      )}
    </div>
  );
}

function Healthy({ status }: { readonly status: Status }) {
  const { slots, store, live, version, notices } = status;
  const allReady = slots.schedulable === slots.total;
  return (
    <>
      <Line
        tone={slots.schedulable === 0 ? 'bad' : allReady ? 'ok' : 'warn'}
        text={`${slots.schedulable} of ${counted(slots.total, 'slot')} ready`}
      />
      <Line
        tone={store.ok ? 'ok' : 'bad'}
        text={
          store.ok
            ? `Store: ${store.kind}`
            : `Store away, ${counted(store.ledger_rows_waiting, 'row')} waiting`
        }
      />
      {live.kind !== 'memory' && (
        <Line
          tone={live.ok ? 'ok' : 'bad'}
          text={live.ok ? counted(live.instances, 'instance') : 'Shared state away'}
        />
      )}
      {notices.map((text) => (
        <Line key={text} tone="warn" text={text} />
      ))}
      <p class="version">gw2api {version}</p>
    </>
  );
}

function Line({ tone, text }: { readonly tone: 'ok' | 'warn' | 'bad'; readonly text: string }) {
  return (
    <p>
      <span class={`dot dot-${tone}`} aria-hidden="true" />
      {text}
    </p>
  );
}
