import { zoneInWords } from '../format/times.js';

/** Names the time zone of all times of a page. */
export function ZoneNote() {
  return <span class="dim">Times of {zoneInWords()}; budgets and daily limits count days of UTC.</span>;
}
