import { useState } from 'preact/hooks';
import { rememberKey } from '../../../console/web/state/issued-keys.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { FormDialog } from '../../../console/web/ui/form-dialog.js';
import { Select } from '../../../console/web/ui/select.js';
import { rotateKey, type IssuedKey, type Key } from './api.js';
import { IssuedSecret } from './issue-dialog.js';

interface RotateDialogProps {
  readonly issued: Key;
  readonly onClose: () => void;
  readonly onRotated: () => void;
}

/** Dialog that gives a key a new secret: first the end of the old one, then the new one, shown only once. */
export function RotateDialog({ issued, onClose, onRotated }: RotateDialogProps) {
  const [rotated, setRotated] = useState<IssuedKey>();
  const [grace, setGrace] = useState<Grace>('24h');
  const action = useAction();
  const rotate = async () => {
    await action.run(async () => {
      const key = await rotateKey(issued.id, grace);
      rememberKey(key.id, key.key);
      setRotated(key);
      onRotated();
    });
  };
  if (rotated) return <IssuedSecret issued={rotated} onClose={onClose} />;
  const title = `Rotate the key of ${issued.name}`;
  return (
    <FormDialog title={title} verb="Rotate the key" action={action} onSubmit={rotate} onClose={onClose}>
      <p>The key gets a new secret. Its id, limits, team and usage stay.</p>
      <Select
        label={`End of sk-gw-…${issued.last4}`}
        hint="Earlier secrets of the key end then at the latest."
        value={grace}
        options={graces}
        onValue={setGrace}
      />
    </FormDialog>
  );
}

type Grace = '0s' | '1h' | '24h' | '7d' | '30d';

const graces = [
  { value: '0s', text: 'at once' },
  { value: '1h', text: 'in an hour' },
  { value: '24h', text: 'in 24 hours' },
  { value: '7d', text: 'in 7 days' },
  { value: '30d', text: 'in 30 days' },
] as const satisfies readonly { readonly value: Grace; readonly text: string }[];
