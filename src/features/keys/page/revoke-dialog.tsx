import { toast } from '../../../console/web/state/toasts.js';
import { runWithToast } from '../../../console/web/state/use-action.js';
import { Button } from '../../../console/web/ui/button.js';
import { Confirm } from '../../../console/web/ui/dialog/confirm.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { changeKey, deleteKey, revokeKey, type Key } from './api.js';

interface RevokeDialogProps {
  readonly issued: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Dialog that revokes a key; a revoked key can be restored or deleted. */
export function RevokeDialog({ issued, onClose, onDone }: RevokeDialogProps) {
  if (issued.revoked_at) return <RevokedDialog issued={issued} onClose={onClose} onDone={onDone} />;
  const revoke = async () => {
    await revokeKey(issued.id);
    toast(`${issued.name} was revoked.`);
    onDone();
  };
  return (
    <Confirm title={`Revoke the key of ${issued.name}?`} verb="Revoke" onConfirm={revoke} onClose={onClose}>
      <p>
        Within a second nobody gets in with <span class="mono">sk-gw-…{issued.last4}</span> any more: 401.
        Answers under way finish. You can let it in again later.
      </p>
    </Confirm>
  );
}

function RevokedDialog({ issued, onClose, onDone }: RevokeDialogProps) {
  const { id, name, last4 } = issued;
  const change = async (done: string, work: () => Promise<unknown>) => {
    await runWithToast(done, async () => {
      await work();
      onDone();
    });
    onClose();
  };
  return (
    <Dialog title={`The revoked key of ${name}`} onClose={onClose}>
      <div class="dialog-body">
        <p>
          <span class="mono">sk-gw-…{last4}</span> can be let in again, or be deleted for good. The ledger
          keeps its requests either way.
        </p>
      </div>
      <footer class="dialog-foot">
        <Button
          tone="danger"
          changes
          icon="bin"
          onClick={() => void change(`${name} is deleted.`, () => deleteKey(id))}
        >
          Delete for good
        </Button>
        <Button
          changes
          icon="play"
          onClick={() => void change(`${name} is admitted again.`, () => changeKey(id, { revoked_at: null }))}
        >
          Let it in again
        </Button>
      </footer>
    </Dialog>
  );
}
