import { useMemo } from 'preact/hooks';
import { count } from '../../../console/web/format/numbers.js';
import { useNow } from '../../../console/web/state/visible.js';
import { Link } from '../../../console/web/ui/link.js';
import type { Column } from '../../../console/web/ui/table/column.js';
import { ExportButtons } from '../../../console/web/ui/table/export-buttons.js';
import { Table } from '../../../console/web/ui/table/table.js';
import { useSort } from '../../../console/web/ui/table/use-sort.js';
import { RelativeTime } from '../../../console/web/ui/time.js';
import type { Slot } from './api.js';
import { forecastWords } from './forecast.js';
import { inFlightText, percentText } from './slot-load.js';
import { SlotBadge, stateWords } from './slot-state.js';

/** Slots in a table, for more of them than cards can show clearly. */
export function SlotTable({ slots }: { readonly slots: readonly Slot[] }) {
  const hasWindows = slots.some(({ windows }) => windows['5h'] ?? windows['7d']);
  const columns = useMemo(() => slotColumns(hasWindows), [hasWindows]);
  const { rows, sort, onSort } = useSort(slots, columns);
  return (
    <>
      <Table
        label="Slots"
        class="slot-table"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={onSort}
      />
      <p class="table-tools">
        <span class="end">
          <ExportButtons name="slots" columns={[...columns, errorColumn]} rows={rows} />
        </span>
      </p>
    </>
  );
}

function slotColumns(hasWindows: boolean): readonly Column<Slot>[] {
  return [
    slotColumn,
    stateColumn,
    {
      id: 'in_flight',
      head: 'In flight',
      isFigure: true,
      value: ({ in_flight: inFlight }) => inFlight,
      cell: inFlightText,
    },
    ...(hasWindows ? [windowColumn('5h', '5 h'), windowColumn('7d', '7 d'), forecastColumn] : []),
    {
      id: 'sessions',
      head: 'Sessions',
      isFigure: true,
      value: ({ bindings }) => bindings,
      cell: ({ bindings }) => count(bindings),
    },
    {
      id: 'last_error_at',
      head: 'Last error',
      value: ({ last_error_at: at }) => at,
      cell: ({ last_error: error, last_error_at: at }) =>
        error === null ? (
          <span class="dim">none</span>
        ) : (
          <span title={error}>{at === null ? error : <RelativeTime at={at} />}</span>
        ),
    },
  ];
}

/** Column of exports only. */
const errorColumn: Column<Slot> = {
  id: 'last_error',
  head: 'Last error',
  value: ({ last_error: error }) => error,
  cell: ({ last_error: error }) => error,
};

function windowColumn(name: '5h' | '7d', words: string): Column<Slot> {
  return {
    id: `window_${name}`,
    head: words,
    isFigure: true,
    value: ({ windows }) => windows[name]?.percent_used ?? null,
    cell: ({ windows }) => {
      const window = windows[name];
      return window ? percentText(window.percent_used) : <span class="dim">–</span>;
    },
  };
}

/** The window that fills up first. */
const forecastColumn: Column<Slot> = {
  id: 'full_at',
  head: 'Forecast',
  value: (slot) => firstFull(slot)?.full_at ?? null,
  cell: (slot) => <FirstFull slot={slot} />,
};

function FirstFull({ slot }: { readonly slot: Slot }) {
  const now = useNow();
  const first = firstFull(slot);
  if (first) return <span class="forecast-warn">{forecastWords(first, now).text}</span>;
  return <span class="dim">{(slot.forecast['5h'] ?? slot.forecast['7d']) ? 'not before a reset' : '–'}</span>;
}

function firstFull({ forecast }: Slot) {
  return [forecast['5h'], forecast['7d']]
    .filter((each) => each !== null)
    .filter(({ full_at: at }) => at !== null)
    .toSorted((a, b) => Date.parse(a.full_at ?? '') - Date.parse(b.full_at ?? ''))[0];
}

const slotColumn: Column<Slot> = {
  id: 'slot',
  head: 'Slot',
  value: ({ id }) => id,
  cell: ({ id, upstream }) => (
    <>
      <Link to={`/slots?q=${encodeURIComponent(id)}`} title="Open its card">
        {id}
      </Link>{' '}
      <span class="dim">{upstream}</span>
    </>
  ),
};

const stateColumn: Column<Slot> = {
  id: 'state',
  head: 'State',
  value: ({ state }) => stateWords[state],
  cell: (slot) => (
    <>
      <SlotBadge state={slot.state} />
      {slot.until && (
        <span class="dim">
          {' '}
          until <RelativeTime at={slot.until} />
        </span>
      )}
    </>
  ),
};
