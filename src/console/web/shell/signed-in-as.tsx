import { nameOf } from '../format/person.js';
import { adminsOnly, ownSession } from '../state/session.js';
import { useStore } from '../state/store.js';
import { Badge } from '../ui/badge.js';
import { Link } from '../ui/link.js';

/** Name and role of the person at this page. */
export function SignedInAs() {
  const own = useStore(ownSession);
  if (!own) return null;
  const { actor } = own;
  return (
    <p class="signed-in-as">
      <Link to="/sessions" class="signed-in-name" title={nameOf(actor)}>
        {nameOf(actor)}
      </Link>
      {actor.role === 'viewer' ? (
        <Badge tone="info" icon="lock" title={adminsOnly}>
          viewer
        </Badge>
      ) : (
        <Badge tone="idle">admin</Badge>
      )}
    </p>
  );
}
