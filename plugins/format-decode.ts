import {
  continuePausedTurns,
  definePlugin,
  extrasOf,
  formatContext,
  GatewayError,
  headerChoice,
  longContextBeta,
  lossReport,
  mayUseModel,
  Type,
  withExtras,
  withFields,
  withoutContextSuffix,
  type GatewayState,
  type Host,
  type Intercept,
  type MessagesRequest,
  type ModelCall,
  type Models,
  type StageContext,
} from '@gw2api/gateway/plugin';

/** Turns the caller's body into a Messages request. */
export default definePlugin({
  name: 'format-decode',
  api: 1,
  requires: ['body', 'caller'],
  provides: ['request', 'delivery', 'answers'],
  intercepts: true,
  seals: ['body'],
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    unsupported: Type.Union([Type.Literal('report'), Type.Literal('reject')], {
      default: 'report',
      description: 'Fields that Messages cannot express: report (named in x-gw-dropped) | reject (400).',
    }),
  }),
  setup({ unsupported }, host) {
    const intercepts = new WeakMap<object, Intercept>(); // of the formats, by request
    async function formatDecode(ctx: DecodeContext, next: () => Promise<void>): Promise<void> {
      const { state } = ctx;
      const mustBeWhole = headerChoice(ctx.headers, 'x-gw-delivery', ['verified']) !== undefined;
      const format = host.formats.get(state.format);
      let decoded = await format.decode(state.body, formatContext(host, ctx));
      const model = withoutContextSuffix(decoded.request.model);
      if (model !== decoded.request.model) {
        decoded = { ...decoded, request: withFields(decoded.request, { model }) };
        ctx.headers['anthropic-beta'] = withBeta(ctx.headers['anthropic-beta']);
      }
      const losses = lossReport(ctx.response);
      if (decoded.dropped.length > 0) losses.addOwn(decoded.dropped, { reject: unsupported === 'reject' });
      const isCount = state.operation === 'count-tokens' && !format.keepsBytes;
      if (isCount) decoded = { ...decoded, request: countable(decoded.request) };
      state.request = underCatalogId(decoded.request, host.models);
      losses.decoded({ request: state.request, pathOf: decoded.pathOf, unsupported });
      if (!mayUseModel(state.caller, state.request.model, host.models))
        throw new GatewayError(
          'forbidden',
          `This key may not use model ${JSON.stringify(decoded.request.model)}.`,
        );
      state.answers = decoded.answers ?? 1;
      state.trace.ask(state.request.model);
      state.delivery = decoded.stream && !mustBeWhole ? 'stream' : 'whole';
      if (decoded.intercept) intercepts.set(ctx, decoded.intercept);
      await next();
    }
    return {
      middleware: formatDecode,
      applies: (ctx) => intercepts.has(ctx) || mayPause(ctx.state, host.formats),
      intercept(request, call, ctx) {
        const ofFormat = intercepts.get(ctx) ?? goOn;
        return ofFormat(request, mayPause(ctx.state, host.formats) ? continued(call) : call, ctx);
      },
    };
  },
});

type DecodeContext = StageContext<'body' | 'caller', 'request' | 'delivery' | 'answers'>;

/** Beta flags of a request for a long context, which upstreams of the kind `messages` take. */
function withBeta(sent: string | readonly string[] | undefined): string {
  const flags = [sent ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((flag) => flag.trim());
  return [...new Set([...flags.filter((flag) => flag !== ''), longContextBeta])].join(',');
}

const goOn: Intercept = (request, call) => call(request);

/** True if a server tool may pause the turn of a caller whose format cannot continue it. */
function mayPause(
  { format, request: { tools } }: Pick<GatewayState, 'format' | 'request'>,
  formats: Host['formats'],
): boolean {
  if (formats.get(format).keepsBytes) return false;
  return tools?.some(({ type = 'custom' }) => type !== 'custom') ?? false;
}

const continuePaused = continuePausedTurns(4);

/** The call, continued if the model pauses its turn. */
function continued(call: ModelCall): ModelCall {
  return (request, options) => continuePaused(request, (further) => call(further, options));
}

/** Extra with the names of the offered tools. */
const allowedTools = 'tool_choice.allowed_tools';

/** The fields of a translated request that an upstream counts; it refuses all others. */
function countable(request: MessagesRequest): MessagesRequest {
  const { model, messages, system, tools, tool_choice, thinking, output_config } = request;
  const counted: MessagesRequest = {
    model,
    messages,
    ...(system && { system }),
    ...(tools && { tools }),
    ...(tool_choice && { tool_choice }),
    ...(thinking && { thinking }),
    ...(output_config && { output_config }),
  };
  const { [allowedTools]: allowed } = extrasOf(request);
  return allowed === undefined ? counted : withExtras(counted, { [allowedTools]: allowed });
}

/**
 * Replaces the model name by its catalog id, except a longer name that goes upstream as written. The format
 * keeps the name that the caller sent.
 */
function underCatalogId(request: MessagesRequest, models: Models): MessagesRequest {
  const model = models.idOf(request.model);
  return model === request.model ? request : { ...request, model };
}
