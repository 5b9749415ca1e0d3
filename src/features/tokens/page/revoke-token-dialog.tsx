import { toast } from '../../../console/web/state/toasts.js';
import { Confirm } from '../../../console/web/ui/confirm.js';
import { deleteAdminToken, revokeAdminToken, type AdminToken } from './api.js';

interface RevokeTokenDialogProps {
  readonly issued: AdminToken;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Dialog that revokes a token, or deletes one that is revoked already. */
export function RevokeTokenDialog({ issued, onClose, onDone }: RevokeTokenDialogProps) {
  const { id, name, last4 } = issued;
  const isRevoked = issued.revoked_at !== null;
  const confirm = async () => {
    await (isRevoked ? deleteAdminToken(id) : revokeAdminToken(id));
    toast(`${name} is ${isRevoked ? 'deleted' : 'revoked'}.`);
    onDone();
  };
  const [title, verb] = isRevoked
    ? [`Delete the revoked token ${name}?`, 'Delete']
    : [`Revoke the token ${name}?`, 'Revoke'];
  return (
    <Confirm title={title} verb={verb} onConfirm={confirm} onClose={onClose}>
      <p>
        {isRevoked ? (
          'Its name is free for a new token then. The audit log keeps what was done with it.'
        ) : (
          <>
            At once no script gets in with <span class="mono">gw-adm-…{last4}</span> any more: 401. A revoked
            token does not come back; issue a new one instead.
          </>
        )}
      </p>
    </Confirm>
  );
}
