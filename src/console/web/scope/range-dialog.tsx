import { useState } from 'preact/hooks';
import { fromInputTime, toInputTime, zoneInWords } from '../format/times.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog/dialog.js';
import { Input } from '../ui/input/field.js';
import { spanOf, type Range } from './range.js';

interface RangeDialogProps {
  readonly range: Range;
  readonly onChoose: (range: Range) => void;
  readonly onClose: () => void;
}

/** Two times to the minute, in the browser's time zone. */
export function RangeDialog({ range, onChoose, onClose }: RangeDialogProps) {
  const [[from, to], setTimes] = useState(() => shownTimes(range));
  const [fromMs, toMs] = [from, to].map((text) => Date.parse(fromInputTime(text) ?? ''));
  const error = problemOf(fromMs, toMs);
  const submit = (event: Event) => {
    event.preventDefault();
    if (error || fromMs === undefined || toMs === undefined) return;
    onChoose({ name: 'custom', fromMs, toMs });
    onClose();
  };
  return (
    <Dialog title="Custom range" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div class="dialog-body form">
          <div class="columns">
            <TimeInput label="From" value={from} onValue={(value) => setTimes([value, to])} />
            <TimeInput label="To" value={to} error={error} onValue={(value) => setTimes([from, value])} />
          </div>
          <WholeDays onChoose={setTimes} />
          <p class="hint">
            Times of {zoneInWords()}. Budgets and daily limits count days of UTC. A range of more than a day
            is widened to whole hours in sums and charts.
          </p>
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" disabled={error !== undefined}>
            Show this range
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface TimeInputProps {
  readonly label: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly onValue: (value: string) => void;
}

function TimeInput(props: TimeInputProps) {
  return <Input {...props} type="datetime-local" />;
}

/** Days of the browser's time zone. */
const wholeDays = [
  { text: 'Today', count: 1, endsToday: true },
  { text: 'Yesterday', count: 1, endsToday: false },
  { text: '7 whole days', count: 7, endsToday: false },
];

function WholeDays({ onChoose }: { readonly onChoose: (times: readonly [string, string]) => void }) {
  return (
    <p class="range-presets">
      {wholeDays.map(({ text, count, endsToday }) => (
        <Button key={text} small onClick={() => onChoose(daysBefore(count, endsToday))}>
          {text}
        </Button>
      ))}
    </p>
  );
}

function daysBefore(count: number, endsToday: boolean): readonly [string, string] {
  const end = new Date();
  end.setHours(endsToday ? 24 : 0, 0, 0, 0);
  const start = new Date(end);
  start.setDate(start.getDate() - count);
  return [inputTime(start.getTime()), inputTime(end.getTime())];
}

function shownTimes(range: Range): readonly [string, string] {
  const nowMs = Date.now();
  const { fromMs, toMs } = range.name === 'custom' ? range : spanOf(range, nowMs);
  return [inputTime(fromMs), inputTime(Math.min(toMs, Math.max(nowMs, fromMs + 60_000)))];
}

function inputTime(ms: number): string {
  return toInputTime(new Date(ms).toISOString());
}

const maxRangeMs = 366 * 86_400_000;

function problemOf(fromMs = NaN, toMs = NaN): string | undefined {
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) return 'Both times are needed.';
  if (fromMs >= toMs) return 'The end must be after the start.';
  return toMs - fromMs > maxRangeMs ? 'A range has at most 366 days.' : undefined;
}
