import type { Key } from '../../api/types.js';
import { compact, count } from '../../format/numbers.js';
import { useNow } from '../../state/now.js';
import { Badge } from '../../ui/badge.js';
import { Link } from '../../ui/link.js';
import { Time } from '../../ui/time.js';
import { limitsInWords } from './limits.js';
import { Sparkline } from './sparkline.js';
import { noDays, type KeyUsage } from './use-key-usage.js';

export function KeyState({ issued }: { readonly issued: Key }) {
  const { expires_at: expires, revoked_at: revoked } = issued;
  const now = useNow();
  const isExpired = expires !== null && Date.parse(expires) <= now;
  if (revoked)
    return (
      <Badge tone="bad" icon="stop">
        Revoked
      </Badge>
    );
  if (isExpired)
    return (
      <Badge tone="warn" icon="wait">
        Expired
      </Badge>
    );
  return (
    <>
      <Badge tone="ok" icon="check">
        Active
      </Badge>
      {expires && (
        <span class="dim key-note">
          ends <Time at={expires} />
        </span>
      )}
    </>
  );
}

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
          {count(used.requests)} requests
        </Link>
      ) : (
        <span class="dim">{isLoaded ? 'nothing' : '…'}</span>
      )}
      <span class="dim num">{used ? `${compact(used.tokens)} tokens` : '\u00a0'}</span>
    </div>
  );
}
