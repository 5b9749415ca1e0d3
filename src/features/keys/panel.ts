import { Closed } from '../../kit/schema/type.js';
import { Type } from '../../plugin/index.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { makeKeySecret } from '../../state/keys/keys.js';
import {
  ChangedKey,
  ChangedKeyReport,
  defaultGrace,
  IssuedKey,
  KeyReport,
  ListedKey,
  NewKey,
  Rotation,
  toPatch,
} from './key-report.js';
import { route, type Route } from '../../operator/route.js';
import { ListOf } from '../../operator/schemas.js';
import { KeyEditor } from './key-editor.js';
import { pipelineNames } from './pipeline-field.js';
import { ChangedTeam, NewTeam, TeamReport, toTeamPatch } from './team-report.js';
import { TeamEditor } from './team-editor.js';

/** Routes of keys and teams. */
export const panelRoutes: RoutesOf = (gateway, { names }) => [
  ...keyRoutes(new KeyEditor(gateway, names)),
  ...teamRoutes(new TeamEditor(gateway, names)),
  route({
    method: 'GET',
    path: '/api/panel/pipelines',
    summary: 'Names of the pipelines that a key or a team may name, `default` first.',
    answers: { 200: ListOf(Type.Object({ name: Type.String() }), {}) },
    handle: async () => ({
      object: 'list',
      data: pipelineNames(gateway.runtime.config).map((name) => ({ name })),
    }),
  }),
];

/** Routes of `/api/panel/keys`. */
function keyRoutes(editor: KeyEditor): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/keys',
      summary: 'All protocol keys, newest first; never the keys themselves.',
      answers: { 200: ListOf(ListedKey, {}) },
      handle: () => editor.list(),
    }),
    route({
      method: 'POST',
      path: '/api/panel/keys',
      summary: 'Issues a key: `key` is shown only in this answer.',
      body: NewKey,
      audit: 'key.create',
      answers: { 201: IssuedKey },
      handle: async ({ body, audit }) => {
        const fields = await editor.checked({ ...toPatch(body), name: body.name });
        return editor.issue(fields, audit);
      },
    }),
    ...changeRoutes(editor),
    rotateRoute(editor),
  ];
}

function changeRoutes(editor: KeyEditor): readonly Route[] {
  return [
    route({
      method: 'PATCH',
      path: '/api/panel/keys/:id',
      summary: 'Changes a key by a merge patch: null removes a field; `revoked_at: null` admits it again.',
      body: ChangedKey,
      audit: 'key.update',
      answers: { 200: ChangedKeyReport },
      handle: async ({ id, body, audit }) => {
        const report = await editor.change(id, await editor.checked(toPatch(body)), audit);
        return { ...report, unknown_models: editor.unknownModels(report) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/keys/:id',
      summary: 'Revokes a key; with `purge=true` it is deleted permanently.',
      query: Closed({ purge: Type.Optional(Type.Boolean()) }),
      audit: 'key.revoke',
      answers: { 200: KeyReport, 204: null },
      handle: ({ id, query, audit }) => (query.purge ? editor.purge(id, audit) : editor.revoke(id, audit)),
    }),
  ];
}

function rotateRoute(editor: KeyEditor): Route {
  return route({
    method: 'POST',
    path: '/api/panel/keys/:id/rotate',
    summary: 'Gives a key a new secret, keeping everything else: `key` is shown only in this answer.',
    body: Rotation,
    audit: 'key.rotate',
    answers: { 200: IssuedKey },
    handle: ({ id, body: { grace = defaultGrace }, audit }) =>
      editor.rotate(id, { ...makeKeySecret(), grace }, audit),
  });
}

/** Routes of `/api/panel/teams`. */
function teamRoutes(editor: TeamEditor): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/teams',
      summary: 'All teams, by name, with their limits and how much of them their keys have used.',
      answers: { 200: ListOf(TeamReport, {}) },
      handle: () => editor.list(),
    }),
    route({
      method: 'POST',
      path: '/api/panel/teams',
      summary: 'Makes a team: its keys share its limits and budgets, in addition to their own.',
      body: NewTeam,
      audit: 'team.create',
      answers: { 201: TeamReport },
      handle: ({ body, audit }) => editor.make(body.name, toTeamPatch(body), audit),
    }),
    route({
      method: 'PATCH',
      path: '/api/panel/teams/:id',
      summary: 'Changes a team by a merge patch: null removes a field.',
      body: ChangedTeam,
      audit: 'team.update',
      answers: { 200: TeamReport },
      handle: ({ id, body, audit }) => editor.change(id, toTeamPatch(body), audit),
    }),
    route({
      method: 'DELETE',
      path: '/api/panel/teams/:id',
      summary: 'Deletes a team; refused (409) while keys belong to it.',
      audit: 'team.delete',
      answers: { 204: null },
      handle: ({ id, audit }) => editor.remove(id, audit),
    }),
  ];
}
