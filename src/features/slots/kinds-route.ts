import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { slotControls, slotKinds, type SlotField, type SlotKind } from './kinds.js';
import { route, type Route } from '../../operator/route.js';
import { Nullable } from '../../operator/schemas.js';

/** Route of the kinds that a slot of the console may have. */
export function slotKindsRoute(gateway: Gateway): Route {
  return route({
    method: 'GET',
    path: '/api/panel/slot-kinds',
    summary:
      'Kinds of upstreams and accounts with their options: the built-in ones, and those that slots of the config file name.',
    answers: { 200: SlotKindsReport },
    async handle() {
      const { upstreams, accounts, fields } = await slotKinds(gateway.runtime.config);
      return {
        object: 'slot_kinds',
        upstreams: upstreams.map(kindReport),
        accounts: accounts.map(kindReport),
        fields: fields.map(fieldReport),
      };
    },
  });
}

const FieldReport = Type.Object({
  path: Type.Array(Type.String(), { description: 'Keys from the root of the options.' }),
  control: Type.Enum([...slotControls], {
    description: '`texts` is a map of texts, `map` one of other values, `json` any other value.',
  }),
  choices: Type.Array(Type.Unknown(), { description: 'Allowed values; empty: any.' }),
  title: Nullable(Type.String()),
  description: Nullable(Type.String()),
  default: Type.Unknown({ description: 'null: it has none.' }),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Its value is never sent back.' }),
  local: Type.Boolean({ description: 'Only the config file may set it.' }),
});

const KindReport = Type.Object({
  use: Type.String({ description: 'Name in a slot: `upstream`, or `account.kind`.' }),
  title: Nullable(Type.String()),
  description: Nullable(Type.String()),
  needs: Type.Array(Type.String(), { description: 'Keys that a slot of this kind requires.' }),
  accounts: Nullable(
    Type.Array(Type.String(), { description: 'Kinds of account that fit an upstream; null: any.' }),
  ),
  fields: Type.Array(FieldReport, { description: 'Options: under `with`, or beside `account.kind`.' }),
  problem: Nullable(Type.String({ description: 'Why no slot can use it.' })),
});

/** The kinds of slots as sent by the console API. */
export const SlotKindsReport = Type.Object({
  object: Type.Literal('slot_kinds'),
  upstreams: Type.Array(KindReport),
  accounts: Type.Array(KindReport),
  fields: Type.Array(FieldReport, { description: 'Fields of every slot.' }),
});

function kindReport({ fields, ...kind }: SlotKind): object {
  return { ...kind, fields: fields.map(fieldReport) };
}

function fieldReport({ keys, initial, isRequired, isSecret, isLocal, ...field }: SlotField): object {
  return {
    path: keys,
    ...field,
    default: isSecret ? null : initial,
    required: isRequired,
    secret: isSecret,
    local: isLocal,
  };
}
