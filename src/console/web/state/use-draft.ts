import { useState } from 'preact/hooks';

/** Values of a form that is not sent yet. */
export interface Drafting<Draft> {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

export function useDraft<Draft>(first: Draft): Drafting<Draft> {
  const [draft, setDraft] = useState(first);
  return { draft, change: (part) => setDraft((last) => ({ ...last, ...part })) };
}

type TextField<Draft> = { [Field in keyof Draft]: string extends Draft[Field] ? Field : never }[keyof Draft];

/** Binds inputs to the texts of a draft: `<Input label="Name" {...tied('name')} />`. */
export function bindTexts<Draft>({ draft, change }: Drafting<Draft>) {
  return <Field extends TextField<Draft>>(field: Field) => ({
    value: draft[field],
    onValue: (text: Draft[Field]) => {
      const part: Partial<Draft> = {};
      part[field] = text;
      change(part);
    },
  });
}

/** Fields of a form that are not null. */
export function filledFields<Fields extends object>(fields: Fields): Partial<Fields> {
  const filled = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(filled) as Partial<Fields>; // some of them
}

/** Fields of a form that differ from those before. */
export function changedFields<Fields extends object>(fields: Fields, before: Fields): Partial<Fields> {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  return Object.fromEntries(changed) as Partial<Fields>; // some of them
}
