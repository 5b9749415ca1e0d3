import { Link } from '../../../console/web/ui/link.js';
import { ShownOnce } from '../../../console/web/ui/shown-once.js';
import type { IssuedKey } from './api.js';

interface IssuedSecretProps {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** Dialog with the secret of a key that was issued or rotated. */
export function IssuedSecret({ issued: { id, name, key }, onClose }: IssuedSecretProps) {
  return (
    <ShownOnce title={`The key of ${name}`} secret={key} what="the key" testId="issued-key" onClose={onClose}>
      <Link to={`/connect?key=${encodeURIComponent(id)}`} class="button button-plain">
        Snippets with this key
      </Link>
    </ShownOnce>
  );
}
