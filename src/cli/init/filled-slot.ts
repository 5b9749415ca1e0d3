import { isScalar, parseDocument, visit, type Document } from 'yaml';
import type { Blank } from './blanks.js';
import { idOf, variablesOf, type Provider } from './providers.js';

/** Answers of the owner of a slot. */
export interface SlotAnswers {
  /** Values of blanks by their names, and `baseUrl` instead of the provider's own. */
  readonly set: Readonly<Record<string, string>>;
  /** Names of the models that it serves; empty: those of the provider's slot. */
  readonly models: readonly string[];
}

/** A slot as it is written into a config. */
export interface FilledSlot {
  readonly id: string;
  /** YAML of the entry under `slots:`. */
  readonly text: string;
  /** Variables of the environment that it reads. */
  readonly variables: readonly string[];
  /** Names of its models if the provider lists none. */
  readonly models: readonly string[];
  /** Placeholders in it that its owner has to replace. */
  readonly missing: readonly string[];
}

/** Fills in the slot of a provider, under an id that none of `taken` has. */
export function filledSlot(
  provider: Provider,
  { set, models }: SlotAnswers,
  taken: readonly string[] = [],
): FilledSlot {
  const own = idOf(provider);
  const number = freeNumber(own, taken);
  const id = number === 1 ? own : `${own}-${number}`;
  const document = parseDocument(provider.slot.trim());
  const { blanks = [] } = provider;
  const names = variablesOf(provider);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'string') return;
      for (const { name, text } of blanks)
        node.value = String(node.value).replaceAll(text, set[name] ?? text);
      if (number > 1)
        for (const name of names)
          node.value = String(node.value).replaceAll(`\${${name}}`, `\${${name}_${number}}`);
    },
  });
  document.set('id', id);
  if (set['baseUrl'] !== undefined) document.set('baseUrl', set['baseUrl']);
  if (models.length > 0) document.set('models', listOf(models, document));
  const isUnnamed = provider.asksModels === true && models.length === 0;
  const missing = blanks.filter((blank) => isMissing(blank, document)).map(({ text }) => text);
  return {
    id,
    text: document.toString({ lineWidth: 0 }).replace(/^models: \[ (.*) \]$/m, 'models: [$1]'),
    variables: names.map((name) => (number > 1 ? `${name}_${number}` : name)),
    models: isUnnamed ? [unnamed] : models.length > 0 ? models : (provider.names ?? []),
    missing: isUnnamed ? [...missing, unnamed] : missing,
  };
}

/** Placeholder for models that only their owner can name. */
const unnamed = 'DEPLOYMENT';

function listOf(models: readonly string[], document: Document) {
  const list = document.createNode(models);
  list.flow = true;
  return list;
}

function isMissing({ text, isOptional = false }: Blank, document: Document): boolean {
  let isThere = false;
  visit(document, {
    Scalar(_, node) {
      isThere ||= isScalar(node) && typeof node.value === 'string' && node.value.includes(text);
    },
  });
  return isThere && !isOptional;
}

/** 1 for a free id, else the number that makes it free. */
function freeNumber(id: string, taken: readonly string[]): number {
  let number = 1;
  while (taken.includes(number === 1 ? id : `${id}-${number}`)) number += 1;
  return number;
}
