import type { ComponentChildren } from 'preact';
import { useAction } from '../../state/use-action.js';
import { Button } from '../button.js';
import { Dialog } from './dialog.js';
import { Problem } from '../problem.js';

interface ConfirmProps {
  readonly title: string;
  /** Consequences of the action. */
  readonly children: ComponentChildren;
  /** Label of the confirm button. */
  readonly verb: string;
  /** True for an action that viewers may do too. */
  readonly isForViewers?: boolean;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Confirmation of an action that cannot be undone. */
export function Confirm({ title, children, verb, isForViewers, onConfirm, onClose }: ConfirmProps) {
  const action = useAction();
  const confirm = async () => {
    if (await action.run(onConfirm)) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        {children}
        {action.error && <Problem error={action.error} />}
      </div>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="danger" changes={!isForViewers} busy={action.isBusy} onClick={() => void confirm()}>
          {verb}
        </Button>
      </footer>
    </Dialog>
  );
}
