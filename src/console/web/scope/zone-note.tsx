import { zoneInWords } from '../format/times.js';

/** Names the time zone of all times of a page. */
export function ZoneNote() {
  return <p class="hint zone-note">Times of {zoneInWords()}. Budgets and daily limits count days of UTC.</p>;
}
