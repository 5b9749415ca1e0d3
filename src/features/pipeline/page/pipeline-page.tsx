import { fetchCanary } from '../../canary/page/api.js';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { action, type Command } from '../../../console/web/shell/palette/command.js';
import { changeQuery, navigate, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { CanaryCard } from '../../canary/page/canary-card.js';
import { fetchPipeline } from './api.js';
import { ReloadDialog } from './reload-dialog.js';
import { Step, stepsOf } from './step.js';
import './pipeline.css';
import './options.css';

export const pipelinePage: ConsolePage = {
  path: '/pipeline',
  title: 'Pipeline',
  group: 'Gateway',
  icon: 'pipeline',
  key: 'p',
  words: 'stages config reload',
  component: PipelinePage,
};

/** Commands of the palette for the pipeline. */
export function usePipelineCommands(): readonly Command[] {
  return [reload];
}

const reload = action('Reload the config', 'file', () => navigate('/pipeline?reload=1'), 'file changes diff');

function PipelinePage() {
  const pipeline = useResource('pipeline', fetchPipeline, 30_000);
  const isReloading = usePlace().query.has('reload');
  const setReloading = (isOpen: boolean) => changeQuery({ reload: isOpen ? '1' : null });
  const canary = useResource('canary', fetchCanary, 5000);
  const hasReloaded = () => {
    pipeline.reload();
    canary.reload();
  };
  const file = pipeline.data?.file;
  const lead = (
    <>
      What a request walks through, top to bottom.
      {file && (
        <>
          {' '}
          Written in <span class="mono wrap">{file}</span>; change it there and reload.
        </>
      )}
    </>
  );
  const actions = (
    <Button icon="file" onClick={() => setReloading(true)}>
      Reload
    </Button>
  );
  return (
    <Page title="Pipeline" lead={lead} actions={actions}>
      {isReloading && <ReloadDialog onReloaded={hasReloaded} onClose={() => setReloading(false)} />}
      <CanaryCard resource={canary} onTaken={pipeline.reload} />
      <Loaded resource={pipeline} skeleton={<Skeleton rows={10} height={76} />}>
        {({ data }) => (
          <ol class="stages">
            <li class="stage-end">A request comes in</li>
            {stepsOf(data).map(([place, stages], index) => (
              <Step key={place} stages={stages} number={index + 1} />
            ))}
            <li class="stage-end">The answer goes out</li>
          </ol>
        )}
      </Loaded>
    </Page>
  );
}
