import { useState } from 'preact/hooks';
import { changeQuery } from '../state/location.js';
import { Button } from '../ui/button.js';
import { Segmented } from '../ui/input/segmented.js';
import type { Option } from '../ui/input/select.js';
import { RangeDialog } from './range-dialog.js';
import { isPreset, presetOptions, writeRange, type PresetName, type Range } from './range.js';
import { zoneInWords } from '../format/times.js';

interface RangePickerProps {
  readonly range: Range;
  /** Offers all the time that the ledger keeps, too. */
  readonly hasAll?: boolean;
}

/** Choice of the range of time: a preset, or two custom times. */
export function RangePicker({ range, hasAll = false }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const choose = (next: Range) => changeQuery(writeRange(next), { push: true });
  const options: readonly Option<PresetName | 'all' | ''>[] = [
    ...presetOptions,
    ...(hasAll ? [{ value: 'all', text: 'All' } as const] : []),
  ];
  return (
    <span class="range-picker">
      <Segmented
        label="Time"
        value={range.name === 'custom' ? '' : range.name}
        options={options}
        onValue={(name) => name && choose({ name })}
      />
      <Button
        icon="calendar"
        pressed={!isPreset(range.name) && range.name !== 'all'}
        onClick={() => setOpen(true)}
      >
        Custom
      </Button>
      {isOpen && <RangeDialog range={range} onChoose={choose} onClose={() => setOpen(false)} />}
    </span>
  );
}

/** Names the time zone of all times of a page. */
export function ZoneNote() {
  return <span class="dim">Times of {zoneInWords()}; budgets and daily limits count days of UTC.</span>;
}
