import type { Files } from '../../whole/temp-folders.js';

/** Stages of an operator that a caller of these tests steers by headers. */
const datedPersona = `
  import { definePlugin } from '@gw2api/gateway/plugin';
  let count = 0;
  export default definePlugin({
    name: 'dated-persona', requires: ['request'], provides: ['request'],
    setup: () => function datedPersona(ctx, next) {
      const wanted = ctx.get('x-dated');
      if (wanted === 'yes' || wanted === 'same') {
        const { request } = ctx.state;
        const system = typeof request.system === 'string' ? [{ type: 'text', text: request.system }] : request.system ?? [];
        const text = wanted === 'yes' ? 'Request ' + ++count : 'Be kind.';
        ctx.state.request = { ...request, system: [{ type: 'text', text }, ...system] };
      }
      return next();
    },
  });`;

const rewriter = `
  import { definePlugin } from '@gw2api/gateway/plugin';
  export default definePlugin({
    name: 'rewriter', requires: ['request'], provides: ['request'],
    setup: () => function rewriter(ctx, next) {
      if (ctx.get('x-rewrite') === 'yes')
        ctx.state.request = JSON.parse(JSON.stringify(ctx.state.request).replaceAll('reads', 'READS'));
      return next();
    },
  });`;

const toolFilter = `
  import { definePlugin } from '@gw2api/gateway/plugin';
  export default definePlugin({
    name: 'tool-filter', requires: ['request'], provides: ['request'],
    setup: () => function toolFilter(ctx, next) {
      const { request } = ctx.state;
      if (ctx.get('x-no-tool') === 'yes') ctx.state.request = { ...request, tools: request.tools.slice(1) };
      return next();
    },
  });`;

export const ownStages = {
  files: {
    'dated-persona.mjs': datedPersona,
    'rewriter.mjs': rewriter,
    'tool-filter.mjs': toolFilter,
  } satisfies Files,
  /** The pipeline with these stages before the web search. */
  place: (pipeline: readonly object[], folder: string): readonly object[] => {
    const own = Object.keys(ownStages.files).map((file) => ({ use: `${folder}/${file}` }));
    return pipeline.flatMap((each) =>
      'use' in each && each.use === 'web-search-tool' ? [...own, each] : [each],
    );
  },
};
