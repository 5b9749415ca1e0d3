import type { Explanation } from '../explanation.js';
import { skipWords } from '../words.js';
import { duration } from '../../../console/web/format/numbers.js';
import { Badge, type BadgeProps } from '../../../console/web/ui/badge.js';
import { EventNotes, RequestChangeList, StateNotes } from './changes.js';

type Stage = Explanation['stages'][number];

const looks: Readonly<Record<Stage['result'], Pick<BadgeProps, 'tone' | 'icon'>>> = {
  passed: { tone: 'ok', icon: 'check' },
  answered: { tone: 'warn', icon: 'stop' },
  failed: { tone: 'bad', icon: 'warn' },
  skipped: { tone: 'idle', icon: 'switch' },
};

/** Work of one stage on the request, or why it was skipped. */
export function ExplainedStage({ stage }: { readonly stage: Stage }) {
  const { result, reason, ms, request, state, events, interceptions, error, caught } = stage;
  return (
    <li class={reason ? 'explained-skipped' : ''}>
      <header>
        <Badge {...looks[result]}>{stage.stage}</Badge>
        <span class="dim num">{reason ? skipWords(reason) : duration(ms)}</span>
      </header>
      {error && (
        <p class="explained-error wrap">
          {error.code}: {error.message}
        </p>
      )}
      {caught && (
        <p class="wrap">
          Caught {caught.code}: {caught.message}
        </p>
      )}
      <RequestChangeList changes={request} />
      <StateNotes state={state} />
      <EventNotes events={events} />
      {interceptions.map(({ calls, events, error }, run) => (
        // oxlint-disable-next-line react/no-array-index-key -- runs have no other name
        <div key={run}>
          {calls.length === 0 && !error && <p>Answered without a call of the model.</p>}
          {calls.map(({ request, error }, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- nor have calls
            <div key={at}>
              {error && (
                <p class="wrap">
                  Call {at + 1}: {error.code}: {error.message}
                </p>
              )}
              <RequestChangeList changes={request} />
            </div>
          ))}
          <EventNotes events={events} />
        </div>
      ))}
    </li>
  );
}
