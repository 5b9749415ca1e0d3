import { useState } from 'preact/hooks';
import { toast } from '../../../console/web/state/toasts.js';
import { useAction } from '../../../console/web/state/use-action.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Dialog } from '../../../console/web/ui/dialog/dialog.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Problem } from '../../../console/web/ui/problem.js';
import { Select, type Option } from '../../../console/web/ui/input/select.js';
import { Changes, hasChanges } from '../../../console/web/ui/config-changes.js';
import { previewReload, reloadConfig, type ReloadPreview } from './api.js';
import type { ComponentType } from 'preact';

interface ReloadDialogProps {
  /** Reloads for a share of new sessions at first; absent: all reloads are complete at once. */
  readonly startPartial: PartialReload['start'] | undefined;
  readonly onReloaded: () => void;
  readonly onClose: () => void;
}

/** Shows the changes of a reload, and reloads after a confirmation. */
export function ReloadDialog({ startPartial, onReloaded, onClose }: ReloadDialogProps) {
  const preview = useResource('reload', previewReload);
  const action = useAction();
  const isRefused = !preview.data || preview.data.problems.length > 0;
  const [percent, setPercent] = useState<Percent>('100');
  const reload = async () => {
    const isDone = await action.run(() =>
      startPartial && percent !== '100' ? reloadFor(percent, startPartial) : reloadWholly(),
    );
    if (!isDone) return;
    onReloaded();
    onClose();
  };
  return (
    <Dialog title="Reload the config" wide onClose={onClose}>
      <div class="dialog-body">
        <Loaded resource={preview} skeleton={<Skeleton rows={4} height={28} />}>
          {(data) => <Preview preview={data} />}
        </Loaded>
        {startPartial && !isRefused && (
          <Select label="For which sessions" value={percent} options={percents} onValue={setPercent} />
        )}
        {action.error && <Problem error={action.error} />}
      </div>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button onClick={preview.reload}>Read again</Button>
        <Button
          tone="primary"
          changes
          busy={action.isBusy}
          disabled={isRefused}
          onClick={() => void reload()}
        >
          {percent === '100' ? 'Reload' : 'Start the canary'}
        </Button>
      </footer>
    </Dialog>
  );
}

type Percent = '100' | '1' | '5' | '10' | '25' | '50';

const percents: readonly Option<Percent>[] = [
  { value: '100', text: 'All, at once' },
  ...(['1', '5', '10', '25', '50'] as const).map((value) => ({
    value,
    text: `${value} % of new ones at first`,
  })),
];

async function reloadWholly(): Promise<void> {
  const { needs_restart: sections } = await reloadConfig();
  const rest = sections.length > 0 ? ` Restart the gateway for: ${sections.join(', ')}.` : '';
  toast(`The config was reloaded.${rest}`);
}

async function reloadFor(percent: Percent, start: PartialReload['start']): Promise<void> {
  await start(Number(percent));
  toast(`The canary gets ${percent} % of new sessions.`);
}

function Preview({ preview: { file, problems, changes } }: { readonly preview: ReloadPreview }) {
  if (problems.length > 0)
    return (
      <>
        <p role="alert">
          <b>The gateway would refuse this file and keep the config that it has.</b>
        </p>
        <ul class="refusals">
          {problems.map((problem) => (
            <li key={problem} class="mono wrap">
              {problem}
            </li>
          ))}
        </ul>
      </>
    );
  if (!hasChanges(changes))
    return (
      <p role="status">
        <b>Nothing would change:</b> <span class="mono wrap">{file}</span> says what is in force. Plugin files
        that were edited are loaded again all the same.
      </p>
    );
  return (
    <>
      <p role="status">
        <span class="mono wrap">{file}</span> would change this. Requests under way finish as they began.
      </p>
      <Changes changes={changes} />
    </>
  );
}

/** Reload for a share of new sessions at first, which another feature brings to the page. */
export interface PartialReload {
  /** Card above the stages. */
  readonly Card: ComponentType<PartialReloadProps>;
  readonly start: (percent: number) => Promise<unknown>;
}

export interface PartialReloadProps {
  /** Number of reloads on this page, each of which refreshes the card. */
  readonly reloads: number;
  /** Called when the config of the card has been taken. */
  readonly onTaken: () => void;
}
