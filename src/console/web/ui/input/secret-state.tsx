import { useNow } from '../../state/visible.js';
import { Badge } from '../badge.js';
import { Time } from '../time.js';

interface SecretStateProps {
  readonly issued: { readonly expires_at: string | null; readonly revoked_at: string | null };
}

/** State of a key or a token: active, with its end if it has one, expired or revoked. */
export function SecretState({ issued: { expires_at: expires, revoked_at: revoked } }: SecretStateProps) {
  const now = useNow();
  if (revoked)
    return (
      <Badge tone="bad" icon="stop">
        Revoked
      </Badge>
    );
  if (expires !== null && Date.parse(expires) <= now)
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
