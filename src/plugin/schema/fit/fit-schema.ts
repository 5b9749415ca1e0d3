import { strictCopy } from './anthropic-strict.js';
import { Changes } from './changes.js';
import { toDraft2020 } from './draft-2020.js';
import { fitGrammar, fitMinimalGrammar } from './grammar.js';
import { isOpenAiStrict } from './openai-strict.js';
import { mergeRootBranches } from './root-branches.js';
import { hasConformingKeys, renameRootKeys, type KeyNames } from './root-keys.js';
import { declareProperties, declareRootObject, dropRootRules, inlineRootRef } from './root-object.js';
import { type Schema, isType, loosenParts, maxDepth, without } from './schema-parts.js';
import { targetOf } from './pointers.js';

/** Rules that a receiver has for JSON Schemas. */
export type SchemaDialect = keyof typeof dialects;

/** Use of a schema: parameters of a tool, or form of the answer. */
export type SchemaUse = 'tool' | 'output';

/** A schema as its receiver takes it. */
export interface FittedSchema {
  /** The given schema itself if the receiver takes it. */
  readonly schema: Schema;
  /** Keywords that were added, replaced, removed or moved into a description; each once, in the order found. */
  readonly changes: readonly string[];
  /** True if the changed schema describes the same values: `items: {}`, renamed keys. */
  readonly keepsMeaning: boolean;
  /** False if the receiver cannot enforce the schema: in a strict dialect only, in which `schema` may be narrower. */
  readonly isExpressible: boolean;
  /** Names of root properties upstream by the caller's, if they differ. */
  readonly keys: KeyNames;
}

/**
 * Fits a schema to its receiver: what it takes stays as it is, what it would refuse is changed. Linear in the
 * size of the schema. The rules, and where they are published or were met as refusals:
 *
 * - All: draft 2020-12 ("It must match JSON Schema draft 2020-12", "None is not of type 'array'"): no keyword that is
 *   null (coder/coder#23538), no tuple as `items`, no boolean `exclusiveMinimum` or `required`.
 * - `openai`, functions (https://platform.openai.com/docs/guides/function-calling): a root of `type: object` with
 *   `properties` and without `anyOf`, `oneOf`, `allOf`, `not`, `enum`, `const` ("schema must have type 'object'
 *   and not have 'oneOf'/… at the top level"), `items` for each array ("array schema missing items"; Gemini
 *   refuses that too, https://ai.google.dev/api/caching#Schema), no reference to nothing.
 * - `openai-strict` (https://platform.openai.com/docs/guides/structured-outputs): besides, every key required,
 *   every object closed, each node with `type`, `anyOf` or `$ref`, 10 levels, 5,000 properties. A schema beyond
 *   that is not expressible; it is neither closed nor made nullable.
 * - `anthropic` (https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use): a root of
 *   `type: object` without `anyOf`, `oneOf`, `allOf` ("input_schema does not support oneOf, allOf, or anyOf at the
 *   top level"); keys of its properties `^[a-zA-Z0-9_.-]{1,64}$`.
 * - `anthropic-strict` (https://platform.claude.com/docs/en/build-with-claude/structured-outputs): objects closed,
 *   no `oneOf`, recursion, external reference, `allOf` with references, limits of numbers, strings, objects and
 *   lists, formats but ten; the vendor's SDK puts those into words (`lib/transform-json-schema`).
 * - `grammar`, llama.cpp and LM Studio (ggml-org/llama.cpp, `common/json-schema-to-grammar.cpp`, "number of
 *   repetitions exceeds sane defaults"): besides the rules of `openai`, no `pattern`, no `not`, no bound of 2,000
 *   repetitions. `grammar-minimal`: no bounds at all.
 */
export function fitSchema(schema: Schema, dialect: SchemaDialect, use: SchemaUse = 'tool'): FittedSchema {
  const fit: Fit = { changes: new Changes(), isExpressible: true, keys: noKeys };
  let fitted = schema;
  for (const rule of dialects[dialect][use]) fitted = rule(fitted, fit);
  const { changes, isExpressible, keys } = fit;
  return {
    schema: fitted,
    changes: changes.keywords,
    keepsMeaning: changes.keepsMeaning,
    isExpressible,
    keys,
  };
}

const noKeys: KeyNames = new Map();

interface Fit {
  readonly changes: Changes;
  isExpressible: boolean;
  keys: KeyNames;
}

type Rule = (schema: Schema, fit: Fit) => Schema;
type Rules = Readonly<Record<SchemaUse, readonly Rule[]>>;

function ruleOf(mend: (schema: Schema, changes: Changes) => Schema): Rule {
  return (schema, { changes }) => mend(schema, changes);
}

const objectRoot = [
  ruleOf(toDraft2020),
  ruleOf(inlineRootRef),
  ruleOf(mergeRootBranches),
  ruleOf(declareRootObject),
];
const openAiRoot = [...objectRoot, ruleOf(declareProperties), ruleOf(dropRootRules)];

const openAi: Rules = {
  tool: [...openAiRoot, ruleOf(mendNodes)],
  output: [ruleOf(toDraft2020), ruleOf(mendNodes)],
};

const checkStrict: Rule = (schema, fit) => {
  fit.isExpressible = isOpenAiStrict(schema);
  return schema;
};

const rename: Rule = (schema, fit) => {
  const { schema: renamed, keys } = renameRootKeys(schema, fit.changes);
  fit.keys = keys;
  return renamed;
};

const checkKeys: Rule = (schema, fit) => {
  if (!hasConformingKeys(schema)) fit.isExpressible = false;
  return schema;
};

function close(use: SchemaUse): Rule {
  return (schema, fit) => {
    const strict = strictCopy(schema, fit.changes, use === 'tool');
    fit.isExpressible &&= strict.isExpressible;
    return strict.schema;
  };
}

const dialects = {
  openai: openAi,
  'openai-strict': { tool: [...openAi.tool, checkStrict], output: [...openAi.output, checkStrict] },
  anthropic: {
    tool: [ruleOf(toDraft2020), ruleOf(mergeRootBranches), ruleOf(declareRootObject), rename],
    output: [],
  },
  'anthropic-strict': {
    tool: [...objectRoot, close('tool'), rename],
    output: [ruleOf(toDraft2020), checkKeys, close('output')],
  },
  grammar: { tool: [...openAi.tool, ruleOf(fitGrammar)], output: [...openAi.output, ruleOf(fitGrammar)] },
  'grammar-minimal': {
    tool: [...openAi.tool, ruleOf(fitMinimalGrammar)],
    output: [...openAi.output, ruleOf(fitMinimalGrammar)],
  },
} as const satisfies Readonly<Record<string, Rules>>;

/** Adds `items` to arrays without any, at any depth, and turns unresolvable references into text. */
function mendNodes(root: Schema, changes: Changes): Schema {
  const mend = (schema: Schema, depth: number): Schema => {
    const mapped = depth < maxDepth ? loosenParts(schema, (part) => mend(part, depth + 1)) : schema;
    return withItems(withoutLostRef(mapped, root, changes), changes);
  };
  return mend(root, 0);
}

function withItems(schema: Schema, changes: Changes): Schema {
  const { type, items, prefixItems } = schema;
  if (!isType(type, 'array') || (items ?? prefixItems ?? undefined) !== undefined) return schema;
  changes.mend('items');
  return { ...schema, items: {} };
}

function withoutLostRef(schema: Schema, root: Schema, changes: Changes): Schema {
  const { $ref } = schema;
  if ($ref === undefined || targetOf($ref, root) !== undefined) return schema;
  return changes.inWords(without(schema, ['$ref']), { $ref });
}
