import { counted } from '../../format/numbers.js';
import { status as lastStatus } from '../../state/status.js';
import { useStore } from '../../state/store.js';

/** Total of the responses stored for callers of the Responses format; hidden if there are none. */
export function StoredResponses() {
  const total = useStore(lastStatus)?.store.responses;
  if (!total || total.count === 0) return null;
  return (
    <p class="hint">
      {counted(total.count, 'stored response')}, {(total.bytes / 2 ** 20).toFixed(1)} MB
    </p>
  );
}
