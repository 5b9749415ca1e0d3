import { useState } from 'preact/hooks';
import type { ConsolePage } from '../../../console/web/shell/console-page.js';
import { action, type Command } from '../../../console/web/shell/palette/command.js';
import { changeQuery, navigate, usePlace } from '../../../console/web/state/location.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Button } from '../../../console/web/ui/button.js';
import { Loaded, Skeleton } from '../../../console/web/ui/loaded.js';
import { Page } from '../../../console/web/ui/page.js';
import { Select } from '../../../console/web/ui/input/select.js';
import { fetchPipeline, type NamedPipeline, type Pipeline, type Stage } from './api.js';
import { ReloadDialog, type PartialReload } from './reload-dialog.js';
import { groupBy } from '../../../console/web/format/group-by.js';
import { StageItem } from './stage-item.js';
import './pipeline.css';
import './options.css';

/** Page of the stages and of reloads; `partial`: further ways to reload. */
export function pipelinePage(partial: readonly PartialReload[]): ConsolePage {
  return {
    path: '/pipeline',
    title: 'Pipeline',
    group: 'Gateway',
    icon: 'pipeline',
    key: 'p',
    words: 'stages config reload',
    component: () => <PipelinePage partial={partial[0]} />,
  };
}

/** Commands of the palette for the pipeline. */
export function usePipelineCommands(): readonly Command[] {
  return [reload];
}

const reload = action('Reload the config', 'file', () => navigate('/pipeline?reload=1'), 'file changes diff');

function PipelinePage({ partial }: { readonly partial: PartialReload | undefined }) {
  const pipeline = useResource('pipeline', fetchPipeline, 30_000);
  const isReloading = usePlace().query.has('reload');
  const setReloading = (isOpen: boolean) => changeQuery({ reload: isOpen ? '1' : null });
  const [reloads, setReloads] = useState(0);
  const hasReloaded = () => {
    pipeline.reload();
    setReloads(reloads + 1);
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
      {isReloading && (
        <ReloadDialog
          startPartial={partial?.start}
          onReloaded={hasReloaded}
          onClose={() => setReloading(false)}
        />
      )}
      {partial && <partial.Card reloads={reloads} onTaken={pipeline.reload} />}
      <Loaded resource={pipeline} skeleton={<Skeleton rows={10} height={76} />}>
        {(loaded) => <Stages loaded={loaded} />}
      </Loaded>
    </Page>
  );
}

/** The stages of the default pipeline, or of the named one that the address asks for. */
function Stages({ loaded: { data, pipelines } }: { readonly loaded: Pipeline }) {
  const asked = usePlace().query.get('pipeline');
  const named = pipelines.find(({ name }) => name === asked);
  const options = ['default', ...pipelines.map(({ name }) => name)].map((name) => ({
    value: name,
    text: name,
  }));
  return (
    <>
      {pipelines.length > 0 && (
        <Select
          label="Pipeline"
          value={named?.name ?? 'default'}
          options={options}
          hint={named && wordsOf(named)}
          onValue={(name) => changeQuery({ pipeline: name === 'default' ? null : name })}
        />
      )}
      <ol class="stages">
        <li class="stage-end">A request comes in</li>
        {stepsOf(named?.stages ?? data).map(([place, stages], index) => (
          <Step key={place} stages={stages} number={index + 1} />
        ))}
        <li class="stage-end">The answer goes out</li>
      </ol>
    </>
  );
}

function wordsOf({ extends: parent, conditions }: NamedPipeline): string {
  const takes = conditions.length > 0 ? ` and takes requests whose ${conditions.join(', ')}` : '';
  return `It changes ${parent}, is for keys and teams that name it${takes}.`;
}

/** Stages by the place of their entry: alternatives of one entry are one step. */
function stepsOf(stages: readonly Stage[]): readonly (readonly [string, readonly Stage[]])[] {
  return [...groupBy(stages, ({ group, path }) => group ?? path)];
}

/** A stage, or the alternatives of one entry. */
function Step({ stages, number }: { readonly stages: readonly Stage[]; readonly number: number }) {
  const isOneOf = stages.some(({ group }) => group !== null);
  const items = stages.map((stage) => <StageItem key={stage.path} stage={stage} number={number} />);
  if (!isOneOf) return items;
  return (
    <li class="stage-group">
      <p>One of these: the first whose conditions hold.</p>
      <ol>{items}</ol>
    </li>
  );
}
