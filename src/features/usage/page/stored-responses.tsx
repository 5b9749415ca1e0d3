import { counted } from '../../../console/web/format/numbers.js';
import { status as lastStatus } from '../../../console/web/state/status.js';
import { useStore } from '../../../console/web/state/store.js';

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
