import type { AdminScope } from './api.js';

interface ScopeFieldsProps {
  readonly scopes: readonly AdminScope[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** A check box for each scope; that of everything takes the place of the others. */
export function ScopeFields({ scopes, chosen, onChange }: ScopeFieldsProps) {
  const hasAll = chosen.includes('*');
  const toggle = (name: string, isChosen: boolean) => {
    if (name === '*') onChange(isChosen ? ['*'] : []);
    else onChange(isChosen ? [...chosen, name] : chosen.filter((each) => each !== name));
  };
  return (
    <fieldset class="scopes">
      <legend>Scopes</legend>
      {scopes.map(({ name, admits }) => (
        <label key={name} class="scope">
          <input
            type="checkbox"
            checked={hasAll || chosen.includes(name)}
            disabled={hasAll && name !== '*'}
            onChange={(event) => toggle(name, event.currentTarget.checked)}
          />
          <span class="mono">{name}</span>
          <span class="dim">{admits}</span>
        </label>
      ))}
    </fieldset>
  );
}
