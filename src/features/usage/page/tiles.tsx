import type { UsageBucket } from '../../../console/web/api/ledger.js';
import { status as lastStatus, type Status } from '../../../console/web/state/status.js';
import { compact, count, counted, duration, share } from '../../../console/web/format/numbers.js';
import { usd } from '../../../console/web/format/usd.js';
import { useStore } from '../../../console/web/state/store.js';
import { totalsOf } from './totals.js';

interface TilesProps {
  readonly buckets: readonly UsageBucket[];
  readonly isFiltered: boolean;
}

/** Tiles with the main numbers; the last two show the current state, which no filter applies to. */
export function Tiles({ buckets, isFiltered }: TilesProps) {
  const totals = totalsOf(buckets);
  const status = useStore(lastStatus);
  const first = totals.firstEventMs;
  return (
    <div class="tiles">
      <Tile
        name="Requests"
        value={count(totals.requests)}
        note={`${count(totals.requests - totals.errors)} answered`}
      />
      <Tile
        name="Failed"
        value={share(totals.errors, totals.requests)}
        note={counted(totals.errors, 'request')}
        bad={totals.errors > 0}
      />
      <Tile
        name="Tokens"
        value={compact(totals.input + totals.output)}
        note={`${compact(totals.output)} out, ${share(totals.cacheRead, totals.input)} of input cached`}
      />
      <Tile
        name="Cost, as billed"
        value={totals.costUsd === null ? '–' : usd(totals.costUsd)}
        note={
          totals.unpriced > 0 ? `${count(totals.unpriced)} without a price` : 'by the prices of the models'
        }
      />
      <Tile name="Time to first event" value={first === null ? '–' : duration(first)} note="on average" />
      <Tile
        name="In flight"
        value={status ? count(status.requests_in_flight) : '–'}
        note={`${status ? inFlightNote(status) : 'now'}${isFiltered ? ', unfiltered' : ''}`}
        live
      />
      <Tile
        name="Slots ready"
        value={status ? `${status.slots.schedulable} / ${status.slots.total}` : '–'}
        note={isFiltered ? 'now, unfiltered' : 'now'}
        bad={status?.slots.schedulable === 0}
        live
      />
    </div>
  );
}

/** Note below the requests in flight: names the number of instances if some have not answered. */
function inFlightNote({ requests_in_flight_instances: reporting, live }: Status): string {
  return reporting < live.instances ? `now, on ${reporting} of ${live.instances} instances` : 'now';
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly bad?: boolean;
  readonly live?: boolean;
}

function Tile({ name, value, note, bad = false, live = false }: TileProps) {
  return (
    <div class={`card tile${bad ? ' tile-bad' : ''}`}>
      <h2>{name}</h2>
      <p class="tile-value">{value}</p>
      <p class="tile-note">
        {live && <span class="dot dot-live" aria-hidden="true" />}
        {note}
      </p>
    </div>
  );
}
