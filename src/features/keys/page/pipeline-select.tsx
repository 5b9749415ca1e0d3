import { fetchList } from '../../../console/web/api/call.js';
import { useResource } from '../../../console/web/state/use-resource.js';
import { Select } from '../../../console/web/ui/input/select.js';

interface PipelineSelectProps {
  /** Empty: none. */
  readonly value: string;
  /** Words for no pipeline. */
  readonly none: string;
  readonly hint: string;
  readonly onValue: (pipeline: string) => void;
}

/** Choice of a pipeline; absent while there is none but the default, unless one is set. */
export function PipelineSelect({ value, none, hint, onValue }: PipelineSelectProps) {
  const { data = [] } = useResource('pipeline names', fetchNames);
  if (data.length < 2 && value === '') return null;
  const names = data.map(({ name }) => name);
  const known = value === '' || names.includes(value) ? names : [...names, value];
  const options = [{ value: '', text: none }, ...known.map((name) => ({ value: name, text: name }))];
  return <Select label="Pipeline" value={value} options={options} onValue={onValue} hint={hint} />;
}

const fetchNames = (signal: AbortSignal) => fetchList<{ readonly name: string }>('/pipelines', signal);
