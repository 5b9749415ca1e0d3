import type { OpenedRequest } from '../../api/types.js';
import { duration, share } from '../../format/numbers.js';

/** A bar for each stage, in the order they ran, against the longest of them. */
export function StageTimes({ row: { stages, duration_ms: total } }: { readonly row: OpenedRequest }) {
  if (stages.length === 0)
    return (
      <p class="dim">
        Not kept: it was answered by another instance, before a restart, or before any stage ran.
      </p>
    );
  const longest = Math.max(0.001, ...stages.map(({ ms }) => ms));
  return (
    <ol class="bars">
      {stages.map(({ stage, ms }) => (
        <li key={stage}>
          <span class="mono">{stage}</span>
          <span class="bar-track" aria-hidden="true">
            <span style={{ width: `${Math.max(0.5, (ms / longest) * 100)}%` }} />
          </span>
          <span class="num" title={`${share(ms, total)} of the whole`}>
            {duration(ms)}
          </span>
        </li>
      ))}
    </ol>
  );
}
