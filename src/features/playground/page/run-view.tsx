import { useState } from 'preact/hooks';
import type { OpenedRequest } from '../../../console/web/api/ledger.js';
import { allTokens, count, duration } from '../../../console/web/format/numbers.js';
import { pathOfRequest } from '../../../console/web/state/location.js';
import { codeInWords } from '../../../console/web/format/words.js';
import { Badge } from '../../../console/web/ui/badge.js';
import { Link } from '../../../console/web/ui/link.js';
import { Card } from '../../../console/web/ui/page.js';
import { Segmented } from '../../../console/web/ui/input/segmented.js';
import type { PlaygroundState } from './use-playground.js';

/** A request of the playground: its answer as it arrives, its stages and calls, and its figures at the end. */
export function RunView({ state }: { readonly state: PlaygroundState }) {
  const { isRunning, head, request, progress } = state;
  const stages = request?.stages ?? progress?.stages ?? [];
  const calls = request?.calls ?? progress?.calls ?? [];
  return (
    <div class="run-view" aria-busy={isRunning}>
      <Answer answer={state.answer} isRunning={isRunning} status={head?.status} />
      <div class="run-facts">
        <Card title="Stages">
          {stages.length === 0 && <p class="dim">{isRunning ? 'None reached yet.' : 'It reached none.'}</p>}
          <ol class="run-steps">
            {stages.map(({ stage, ms, skipped }) => (
              <li key={stage}>
                <span class="mono">{stage}</span>
                <span class="num dim">{skipped ? 'skipped' : duration(ms)}</span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="Upstream calls">
          {calls.length === 0 && <p class="dim">None{isRunning ? ' yet' : ''}.</p>}
          <ol class="run-steps">
            {calls.map(({ slot, ms, code }, at) => (
              <li key={at}>
                <span>
                  {slot}
                  {code && <span class="dim wrap"> {code}</span>}
                </span>
                <span class="num dim">{ms > 0 ? duration(ms) : 'waiting'}</span>
              </li>
            ))}
          </ol>
        </Card>
        {request && <Figures request={request} />}
        {request === null && <p class="dim">It reached no model, so that the ledger has no row of it.</p>}
      </div>
    </div>
  );
}

interface AnswerProps {
  readonly answer: string;
  readonly isRunning: boolean;
  readonly status: number | undefined;
}

function Answer({ answer, isRunning, status }: AnswerProps) {
  const [view, setView] = useState<'text' | 'raw'>('text');
  const text = view === 'text' ? answerText(answer) : '';
  const hasFailed = status !== undefined && status >= 400;
  return (
    <Card
      class="run-answer"
      title={
        <>
          Answer{' '}
          {status !== undefined && (
            <Badge tone={hasFailed ? 'bad' : 'ok'} icon={hasFailed ? 'stop' : 'check'}>
              {String(status)}
            </Badge>
          )}
        </>
      }
      aside={<Segmented label="Shown as" value={view} options={views} onValue={setView} />}
    >
      {/* Focusable: it scrolls. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre class="run-text" tabIndex={0} aria-label="Answer">
        {text || prettyAnswer(answer) || (isRunning ? 'Waiting for the answer …' : 'There was no answer.')}
      </pre>
    </Card>
  );
}

const views = [
  { value: 'text', text: 'Text' },
  { value: 'raw', text: 'Raw' },
] as const;

function Figures({ request }: { readonly request: OpenedRequest }) {
  const { slot, attempts, duration_ms: ms, first_event_ms: firstMs, billed, cost, code } = request;
  return (
    <Card title="Figures">
      <ol class="run-steps">
        <Fact
          name="Slot"
          value={
            slot === null ? 'none' : `${slot}, ${attempts === 1 ? 'one call' : `${count(attempts)} calls`}`
          }
        />
        <Fact name="Time" value={duration(ms)} />
        {firstMs !== null && <Fact name="First event" value={duration(firstMs)} />}
        <Fact
          name="Tokens billed"
          value={`${count(allTokens(billed))}, ${count(billed.output)} of them output`}
        />
        <Fact name="Cost" value={cost === null ? 'unknown' : `$${cost.billed_usd.toPrecision(3)}`} />
      </ol>
      {code !== null && (
        <p>
          <span class="mono">{code}</span>: {codeInWords(code)}
        </p>
      )}
      <p>
        <Link to={pathOfRequest(request.id)}>Open it in the ledger</Link>
      </p>
    </Card>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <li>
      <span>{name}</span>
      <span class="num">{value}</span>
    </li>
  );
}

/** Text in an answer of any format, streamed or whole; empty if there is none, as in an error. */
function answerText(answer: string): string {
  const lines = answer.split('\n').filter((line) => line.startsWith('data:'));
  if (lines.length === 0) return textIn(parsed(answer));
  return lines.map((line) => textIn(parsed(line.slice('data:'.length)))).join('');
}

/** JSON with indents; another text unchanged. */
function prettyAnswer(answer: string): string {
  const value = parsed(answer);
  return value === undefined ? answer : JSON.stringify(value, null, 2);
}

interface Piece {
  readonly type?: string;
  readonly delta?: unknown;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly choices?: unknown;
  readonly text?: unknown;
  readonly message?: unknown;
}

/** Text of an event or of a whole answer. */
function textIn(value: unknown): string {
  const piece = Object(value) as Piece;
  if (piece.type === 'response.output_text.delta' && typeof piece.delta === 'string') return piece.delta;
  if (piece.type?.startsWith('response.')) return '';
  if (Array.isArray(piece.choices)) return piece.choices.map(textIn).join('');
  if (Array.isArray(piece.output)) return piece.output.map(textIn).join('');
  if (Array.isArray(piece.content)) return piece.content.map(textIn).join('');
  if (typeof piece.content === 'string') return piece.content;
  if (typeof piece.text === 'string') return piece.text;
  if (piece.type === 'message_start') return '';
  return isObject(piece.delta) ? textIn(piece.delta) : isObject(piece.message) ? textIn(piece.message) : '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
