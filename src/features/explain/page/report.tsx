import type { ComponentChildren } from 'preact';
import type { Explanation } from '../explanation.js';
import { causeText, choiceWords, notTakenWords } from '../../../engine/slots/words.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Facts } from '../../../console/web/ui/facts.js';
import { Card } from '../../../console/web/ui/page.js';
import { Time } from '../../../console/web/ui/time.js';
import { stagesTitle } from '../words.js';
import { Json } from './changes.js';
import { ExplainedStage } from './explained-stage.js';
import './explain.css';

/** Explanation of one request. */
export function Report({ explanation }: { readonly explanation: Explanation }) {
  const { stages, choices, outgoing, tokens, log } = explanation;
  return (
    <div class="explained" aria-live="polite">
      <Answer explanation={explanation} />
      <Card title="Slots">
        {choices.length === 0 && <p class="dim">No slot was asked for.</p>}
        {choices.map((choice, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- choices have no other name
          <Choice key={at} choice={choice} number={at + 1} />
        ))}
      </Card>
      <Card title={stagesTitle(explanation)}>
        <ol class="explained-stages">
          {stages.map((stage) => (
            <ExplainedStage key={stage.path} stage={stage} />
          ))}
        </ol>
      </Card>
      <Card title="Sent upstream">
        {outgoing.length === 0 && <p class="dim">Nothing would go out.</p>}
        {outgoing.map((call, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- nor have calls
          <Outgoing key={at} call={call} />
        ))}
      </Card>
      <Card title="Tokens">
        <Facts facts={tokenFacts(tokens)} />
      </Card>
      {log.length > 0 && (
        <Card title="Log">
          {log.map((line) => (
            <p key={line} class="mono wrap">
              {line}
            </p>
          ))}
        </Card>
      )}
    </div>
  );
}

function Answer({ explanation: { answer, dropped, calls } }: { readonly explanation: Explanation }) {
  const { status, error, complete, events, headers } = answer;
  const tone = status >= 500 || !complete ? 'bad' : status >= 400 ? 'warn' : 'ok';
  const types = Object.entries(events).map(([type, count]) => `${type} ${count}`);
  return (
    <Card title="Told to the caller">
      <div class={`outcome-box outcome-box-${tone}`}>
        <strong class="num">{status}</strong>
        <p class="wrap">
          {error ? [error.code, error.message].filter(Boolean).join(': ') : 'The request would be answered.'}
        </p>
      </div>
      <Facts
        facts={[
          { name: 'Upstream calls', value: calls.map(callText).join(', ') || 'none' },
          ...(dropped.length > 0
            ? [{ name: 'Dropped', value: <span class="mono wrap">{dropped.join(', ')}</span> }]
            : []),
          ...(types.length > 0
            ? [{ name: 'Events', value: <span class="wrap">{types.join(', ')}</span> }]
            : []),
        ]}
      />
      <More title="Headers and answer">
        <Json value={headers} />
        {answer.answer !== undefined && <Json value={answer.answer} />}
      </More>
    </Card>
  );
}

function callText({ slot, code }: Explanation['calls'][number]): string {
  return code === undefined ? slot : `${slot} (${code})`;
}

function Choice({
  choice,
  number,
}: {
  readonly choice: Explanation['choices'][number];
  readonly number: number;
}) {
  const { model, slot, result, bound, slots } = choice;
  return (
    <section class="explained-choice">
      <h3>
        {number}. <span class="mono">{model}</span> to{' '}
        {slot === undefined ? choiceWords[result] : <span class="mono">{slot}</span>}
        {bound !== undefined && <span class="dim"> (the session is bound to {bound})</span>}
      </h3>
      <ul>
        {slots.map(({ slot, upstreamModel, notTaken, cooldown, lastError, inFlight, maxConcurrent }) => (
          <li key={slot}>
            <Badge tone={notTaken ? 'idle' : 'ok'} icon={notTaken ? 'close' : 'check'}>
              {slot}
            </Badge>
            <span class="wrap">
              {notTaken ? notTakenWords[notTaken] : 'taken'}
              {upstreamModel !== undefined && !notTaken && (
                <>
                  {' '}
                  as <span class="mono">{upstreamModel}</span>
                </>
              )}
              {cooldown && (
                <>
                  , {cooldown.reason} until <Time at={new Date(cooldown.untilMs).toISOString()} />
                  {cooldown.cause && <> ({causeText(cooldown.cause)})</>}
                </>
              )}
              {notTaken && lastError && <>; last error: {lastError}</>}
              <span class="dim num">
                {' '}
                {inFlight} of {maxConcurrent} in use
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Outgoing({ call }: { readonly call: Explanation['outgoing'][number] }) {
  const { slot, method, path, headers, body } = call;
  return (
    <More title={`${method} ${path} to ${slot ?? 'the token endpoint'}`}>
      <Json value={headers} />
      {body !== undefined && <Json value={body} />}
    </More>
  );
}

function More({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <details class="explained-more">
      <summary class="mono wrap">{title}</summary>
      {children}
    </details>
  );
}

function tokenFacts({ billed, shown, added, additions }: Explanation['tokens']) {
  const estimates = Object.entries(additions).flatMap(([name, count]) =>
    count > 0 ? [`${name} about ${count}`] : [],
  );
  return [
    { name: 'Billed', value: countText(billed) },
    { name: 'Shown', value: countText(shown) },
    {
      name: 'Added',
      value: `${added}${estimates.length > 0 ? ` (estimated: ${estimates.join(', ')})` : ''}`,
    },
  ];
}

function countText(tokens: Explanation['tokens']['billed']): string {
  const counts = Object.entries(tokens).flatMap(([name, count]) => (count > 0 ? [`${name} ${count}`] : []));
  return counts.join(', ') || 'none';
}
