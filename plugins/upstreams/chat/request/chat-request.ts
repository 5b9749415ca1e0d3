import type { Loss, MessagesRequest, Tool } from 'gw2api/plugin';
import { LastResults } from 'gw2api/plugin/format';
import type { CallTerms } from '../../shared/call-terms.js';
import { withoutAttribution } from '../../shared/attribution.js';
import { withObjectInputs } from '../../shared/call-inputs.js';
import { Dropped } from '../../shared/dropped.js';
import { withOutputConfig } from '../../shared/output-config.js';
import { refuseThread } from '../../shared/server-thread.js';
import { withExtraFieldsOf } from '../../shared/extra-fields.js';
import { ToolNames } from '../../shared/tool-names.js';
import { checkedShape } from '../../shared/request-shape.js';
import { reportUnread } from '../../shared/unread.js';
import type { Capabilities } from '../capabilities.js';
import type { ChatBody } from './chat-body.js';
import type { Conversion } from './content.js';
import { chatMessages } from './conversation.js';
import { outputOf } from './output.js';
import { settingFields } from './settings.js';
import { thinkingFields } from './thinking.js';
import { toolFields } from './tools.js';

export interface ChatRequest {
  readonly body: ChatBody;
  /** Parts of the Messages request that the server cannot be told: `top_k`, `messages[2].content[1]`. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
  /** Names of the tools that the answer names. */
  readonly names: ToolNames;
}

/**
 * Chat Completions request, streamed, in the server's dialect. Throws `invalid_request` for a wrong
 * field. `terms`: what else the call says of its request.
 */
export function chatRequest(
  given: MessagesRequest,
  capabilities: Capabilities,
  terms: CallTerms = {},
): ChatRequest {
  refuseThread(given);
  const { request: objects, cut } = withObjectInputs(withOutputConfig(given));
  const whole = checkedShape(objects);
  const conversion: Conversion = {
    capabilities,
    dialect: capabilities.grammar ? 'grammar' : 'openai',
    strictTools: capabilities.strictTools,
    strictFormat: true,
    isTranslated: terms.isTranslated,
    dropped: new Dropped(cut),
    names: new ToolNames(),
    results: LastResults.of(whole.messages.map(({ content }) => content)),
    addedTools: terms.addedTools ?? [],
    leftOut: [],
  };
  const request = withoutAttribution(whole, capabilities, conversion.dropped);
  const { fields, request: asking } = outputOf(request, conversion);
  const body: ChatBody = {
    model: request.model,
    messages: chatMessages(asking, conversion),
    ...toolFields(request, conversion),
    ...fields,
    ...thinkingFields(request, conversion),
    ...settingFields(request, conversion),
    stream: true,
  };
  reportUnread(request, conversion.dropped, terms);
  const { dropped, leftOut, names } = conversion;
  const sent = withExtraFieldsOf(body, request, capabilities.extraPaths, dropped);
  return { body: sent, losses: dropped.losses, leftOut, names };
}
