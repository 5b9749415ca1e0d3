import { compact, counted } from '../../../console/web/format/numbers.js';
import { Link } from '../../../console/web/ui/link.js';
import type { Key } from './api.js';
import { limitsInWords } from './limits.js';
import { Sparkline } from './sparkline.js';
import { noDays, type KeyUsage } from './use-key-usage.js';

export function Limits({ issued }: { readonly issued: Key }) {
  const limits = limitsInWords(issued);
  if (limits.length === 0) return <span class="dim">none</span>;
  return (
    <ul class="limits">
      {limits.map((limit) => (
        <li key={limit}>{limit}</li>
      ))}
    </ul>
  );
}

interface UsedProps {
  readonly issued: Key;
  readonly used: KeyUsage | undefined;
  readonly isLoaded: boolean;
}

/** Usage of a key; as high before it is loaded, and for a key without any. */
export function Used({ issued, used, isLoaded }: UsedProps) {
  return (
    <div class="used">
      <Sparkline values={used?.days ?? noDays} />
      {used ? (
        <Link to={`/requests?key=${encodeURIComponent(issued.id)}`} class="num">
          {counted(used.requests, 'request')}
        </Link>
      ) : (
        <span class="dim">{isLoaded ? 'nothing' : '…'}</span>
      )}
      <span class="dim num">{used ? counted(used.tokens, 'token', compact) : '\u00a0'}</span>
    </div>
  );
}
