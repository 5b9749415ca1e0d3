import { definePlugin, Type, withFields } from '@gw2api/gateway/plugin';

/** Lowers `temperature` to a limit; never raises or sets it. */
export default definePlugin({
  name: 'temperature-cap',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  options: Type.Object({
    limit: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.7,
      description: 'Max temperature of a request.',
    }),
  }),
  setup({ limit }) {
    return async function temperatureCap(ctx, next) {
      const { request } = ctx.state;
      const { temperature } = request;
      if (typeof temperature === 'number' && temperature > limit)
        ctx.state.request = withFields(request, { temperature: limit });
      await next();
    };
  },
});
